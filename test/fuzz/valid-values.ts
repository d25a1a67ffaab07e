import fc from 'fast-check';

/** A part of an OpenAPI document. Any member may be missing. */
export type Part = Readonly<Record<string, unknown>>;

export function partOf(value: unknown): Part {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The part at this path of names; an empty one if there is none. */
export function partAt(value: unknown, ...names: readonly string[]): Part {
  return partOf(names.reduce<unknown>((part, name) => partOf(part)[name], value));
}

/** Values that the schema allows. Further limits in `allOf` are ignored, so some values are invalid. */
export function validValue(schema: Part, document: Part): fc.Arbitrary<unknown> {
  const { $ref: reference, type, properties, items, minimum, maximum } = schema;
  const { const: constant, enum: choices, anyOf } = schema;
  if (typeof reference === 'string') {
    return validValue(partAt(document, ...reference.replace('#/', '').split('/')), document);
  }
  if (constant !== undefined) return fc.constant(constant);
  if (Array.isArray(choices)) return fc.constantFrom(...choices);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(one => validValue(partOf(one), document)));
  const min = typeof minimum === 'number' ? minimum : undefined;
  const max = typeof maximum === 'number' ? maximum : undefined;
  switch (type) {
    case 'object': {
      const members = Object.entries(partOf(properties));
      return fc.record(
        Object.fromEntries(members.map(([name, its]) => [name, validValue(partOf(its), document)])),
      );
    }
    case 'array':
      return fc.array(validValue(partOf(items), document), { maxLength: 4 });
    case 'number':
      return fc.double({ min: min ?? -100, max: max ?? 100, noNaN: true });
    case 'integer':
      return fc.integer({ min: min ?? 0, max: Math.min(max ?? 1000, 1000) });
    case 'boolean':
      return fc.boolean();
    default:
      return fc.string();
  }
}
