/** The output of a command. It goes to standard output where the exit code is 0, otherwise to standard error. */
export interface Said {
  readonly text: string;
  readonly exitCode: 0 | 1 | 2;
}
