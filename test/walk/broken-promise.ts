/** The robot broke a promise. `promise` names the kind of failure. */
export class BrokenPromise extends Error {
  override readonly name = 'BrokenPromise';
  readonly promise: string;

  constructor(promise: string, detail: string) {
    super(`${promise}: ${detail}`);
    this.promise = promise;
  }
}

export function promise(holds: boolean, name: string, detail: () => string): void {
  if (!holds) throw new BrokenPromise(name, detail());
}
