/** The output of a command. */
export interface Said {
  readonly text: string;
  readonly exitCode: 0 | 1 | 2;
  /** What `--json` prints in place of `ok` and the text. */
  readonly json?: unknown;
  /** A report goes to standard output whatever it says. Anything else goes to standard error unless the exit code is 0. */
  readonly isReport?: boolean;
}

export function done(text: string): Said {
  return { text, exitCode: 0 };
}

export function failed(text: string): Said {
  return { text, exitCode: 1 };
}

/** For a wrong command line. */
export function wrong(text: string): Said {
  return { text, exitCode: 2 };
}
