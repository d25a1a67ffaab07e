import { Listeners } from '../core/listeners.js';

const NAMES = [
  'ink',
  'dim',
  'grid',
  'zero',
  'setpoint',
  'measured',
  'output',
  'previous',
  'beam',
  'target',
  'mark',
] as const;
export type Palette = Readonly<Record<(typeof NAMES)[number], string>>;

/** The style sheet's colours, for what is drawn on canvases. */
export class Colours {
  readonly changed = new Listeners<void>();
  #palette = readPalette();

  constructor() {
    matchMedia('(prefers-color-scheme: light)').addEventListener('change', () => {
      this.#palette = readPalette();
      this.changed.emit();
    });
  }

  get palette(): Palette {
    return this.#palette;
  }
}

function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const entries = NAMES.map(name => [name, style.getPropertyValue(`--${name}`).trim()]);
  return Object.fromEntries(entries);
}
