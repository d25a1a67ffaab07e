import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { DeskModel } from './desk-model.js';

export const DeskContext = createContext<DeskModel | undefined>(undefined);

export function useDesk(): DeskModel {
  const desk = useContext(DeskContext);
  if (desk === undefined) throw new TypeError('used outside of the page');
  return desk;
}
