import type { ReadonlySignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Daemon } from '../daemon/daemon.js';
import type { Model } from '../model/model.js';
import type { Palette } from '../plot/palette.js';

/** What every part of the page may use. */
export interface Console {
  readonly daemon: Daemon;
  readonly model: Model;
  readonly palette: ReadonlySignal<Palette>;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === undefined) throw new TypeError('used outside of the page');
  return console;
}
