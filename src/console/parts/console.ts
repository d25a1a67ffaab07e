import type { ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { Action } from '../model/action.js';
import type { Model } from '../model/model.js';
import type { Palette } from '../plot/palette.js';

/** What every part of the page may use. */
export interface Console {
  readonly model: Model;
  readonly palette: ReadonlySignal<Palette>;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === undefined) throw new TypeError('used outside of the page');
  return console;
}

export function useModel(): Model {
  return useConsole().model;
}

/** An action of one component. */
export function useAction(title: string): Action {
  const { surroundings } = useModel();
  return useMemo(() => new Action(surroundings.clock, title), []);
}
