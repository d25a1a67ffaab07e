import { type ReadonlySignal, signal } from '@preact/signals';

const NAMES = [
  'ink',
  'dim',
  'grid',
  'zero',
  'setpoint',
  'measured',
  'output',
  'previous',
  'run-1',
  'run-2',
  'run-3',
  'run-4',
  'run-5',
  'mark',
] as const;
export type Palette = Readonly<Record<(typeof NAMES)[number], string>>;

/** The style sheet's colours, for drawing on canvases. */
export function createPalette(): ReadonlySignal<Palette> {
  const palette = signal(readPalette());
  matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => {
    palette.value = readPalette();
  });
  return palette;
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const entries = NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(entries);
}
