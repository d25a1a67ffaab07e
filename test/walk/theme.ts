/** The kinds of events in a history. */
const KINDS = [
  'mode',
  'excitation',
  'gains',
  'trial',
  'tune',
  'stop',
  'match',
  'access',
  'disk',
  'end',
  'drive',
] as const;

/** The weight of each kind in one history, relative to its usual weight. */
export type Theme = Readonly<Record<(typeof KINDS)[number], number>>;

/** One theme a row, in the order of KINDS. */
const WEIGHTS: readonly (readonly number[])[] = [
  [1, 1, 1, 1, 0.3, 1, 0.2, 0, 1, 1, 0.5],
  [0.3, 3, 0.2, 0.2, 0, 0.2, 0, 0, 0.3, 0.5, 0],
  [1, 0.3, 0.5, 0.5, 0.2, 3, 0, 0, 0.5, 1, 0.5],
  [0.3, 0, 4, 4, 0.2, 0.5, 0, 0, 4, 4, 0],
  [0.2, 0.3, 0.2, 5, 1, 0.7, 0.2, 0, 0.3, 0.3, 0],
  [1, 0.5, 0.5, 0.5, 0.3, 1.5, 2, 0, 0.5, 1, 0.5],
  [1, 0.5, 0.5, 0.5, 0.3, 1, 2, 1, 1.5, 3, 1],
  [0.3, 0.2, 0.2, 0.4, 4, 0.5, 0.2, 0, 0.2, 0.5, 0],
  [1, 0.2, 0.3, 0.2, 0.1, 1, 1, 0.5, 0.2, 0.5, 4],
];

export const THEMES = WEIGHTS.map(
  weights => Object.fromEntries(KINDS.map((kind, place) => [kind, weights[place] ?? 0])) as Theme,
);
