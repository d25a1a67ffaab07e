/** What a command says: on standard output where the exit code is 0, else on standard error. */
export interface Said {
  readonly text: string;
  readonly exitCode: 0 | 1 | 2;
}
