import fc from 'fast-check';

/** One damage to a file: bytes are changed, removed or inserted, or a piece is repeated. */
interface Damage {
  readonly at: number;
  readonly length: number;
  readonly how: 'overwrite' | 'insert' | 'remove' | 'repeat' | 'cut';
  readonly bytes: Uint8Array;
}

export const damage: fc.Arbitrary<Damage> = fc.record({
  at: fc.nat(),
  length: fc.nat({ max: 60 }),
  how: fc.constantFrom('overwrite', 'insert', 'remove', 'repeat', 'cut'),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 20 }),
});

export function damaged(file: Buffer, harm: Damage): Buffer {
  const at = harm.at % (file.length + 1);
  const before = file.subarray(0, at);
  const piece = file.subarray(at, at + harm.length);
  const after = file.subarray(at + harm.length);
  switch (harm.how) {
    case 'overwrite':
      return Buffer.concat([before, harm.bytes, file.subarray(at + harm.bytes.length)]);
    case 'insert':
      return Buffer.concat([before, harm.bytes, piece, after]);
    case 'remove':
      return Buffer.concat([before, after]);
    case 'repeat':
      return Buffer.concat([before, piece, piece, after]);
    case 'cut':
      return before;
  }
}

export async function inTime<T>(what: string, hangMs: number, act: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await act();
  const tookMs = performance.now() - startMs;
  if (tookMs > hangMs) throw new Error(`${what} took ${tookMs.toFixed(0)} ms`);
  return result;
}
