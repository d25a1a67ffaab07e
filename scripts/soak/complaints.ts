/**
 * Collects what went wrong, each kind counted and shown once, so that a soak that fails says why in few lines.
 */
export class Complaints {
  readonly #counts = new Map<string, { count: number; readonly first: string }>();

  add(kind: string, detail: string): void {
    const known = this.#counts.get(kind);
    if (known === undefined) this.#counts.set(kind, { count: 1, first: detail });
    else known.count += 1;
  }

  get lines(): string[] {
    return [...this.#counts].map(([kind, { count, first }]) => `${kind} (${count}): ${first}`);
  }
}
