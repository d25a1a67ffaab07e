/** The weight of each kind of event in one history, relative to its usual weight. */
export interface Theme {
  readonly mode: number;
  readonly wave: number;
  readonly gains: number;
  readonly trial: number;
  readonly tune: number;
  readonly stop: number;
  readonly match: number;
  readonly access: number;
  readonly disk: number;
  readonly end: number;
  readonly drive: number;
}

export const THEMES: readonly Theme[] = [
  {
    mode: 1,
    wave: 1,
    gains: 1,
    trial: 1,
    tune: 0.3,
    stop: 1,
    match: 0.2,
    access: 0,
    disk: 1,
    end: 1,
    drive: 0.5,
  },
  {
    mode: 0.3,
    wave: 3,
    gains: 0.2,
    trial: 0.2,
    tune: 0,
    stop: 0.2,
    match: 0,
    access: 0,
    disk: 0.3,
    end: 0.5,
    drive: 0,
  },
  {
    mode: 1,
    wave: 0.3,
    gains: 0.5,
    trial: 0.5,
    tune: 0.2,
    stop: 3,
    match: 0,
    access: 0,
    disk: 0.5,
    end: 1,
    drive: 0.5,
  },
  {
    mode: 0.3,
    wave: 0,
    gains: 4,
    trial: 4,
    tune: 0.2,
    stop: 0.5,
    match: 0,
    access: 0,
    disk: 4,
    end: 4,
    drive: 0,
  },
  {
    mode: 0.2,
    wave: 0.3,
    gains: 0.2,
    trial: 5,
    tune: 1,
    stop: 0.7,
    match: 0.2,
    access: 0,
    disk: 0.3,
    end: 0.3,
    drive: 0,
  },
  {
    mode: 1,
    wave: 0.5,
    gains: 0.5,
    trial: 0.5,
    tune: 0.3,
    stop: 1.5,
    match: 2,
    access: 0,
    disk: 0.5,
    end: 1,
    drive: 0.5,
  },
  {
    mode: 1,
    wave: 0.5,
    gains: 0.5,
    trial: 0.5,
    tune: 0.3,
    stop: 1,
    match: 2,
    access: 1,
    disk: 1.5,
    end: 3,
    drive: 1,
  },
  {
    mode: 0.3,
    wave: 0.2,
    gains: 0.2,
    trial: 0.4,
    tune: 4,
    stop: 0.5,
    match: 0.2,
    access: 0,
    disk: 0.2,
    end: 0.5,
    drive: 0,
  },
  {
    mode: 1,
    wave: 0.2,
    gains: 0.3,
    trial: 0.2,
    tune: 0.1,
    stop: 1,
    match: 1,
    access: 0.5,
    disk: 0.2,
    end: 0.5,
    drive: 4,
  },
];
