import { signal } from '@preact/signals';
import { RUN_COLOURS } from '../model/runs.js';

const NAMES = ['ink', 'dim', 'grid', 'zero', 'accent', 'edited', 'output', ...RUN_COLOURS] as const;
type Palette = Readonly<Record<(typeof NAMES)[number], string>>;
export type Colour = keyof Palette;

/** The style sheet's colours, for drawing on canvases. */
export const palette = signal(readPalette());
matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => {
  palette.value = readPalette();
});

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const entries = NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(entries);
}
