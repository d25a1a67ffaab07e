/**
 * JSON Schema that carries the TypeScript type of what it describes. The type of a body, the check of it and its
 * documentation come from one declaration, so the compiler finds where they would differ.
 */
export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  /** This member exists only for the compiler. At run time it is never there. */
  readonly [TYPE]?: T;
}

declare const TYPE: unique symbol;

/** The TypeScript type of what a schema describes. */
export type TypeOf<S extends Schema> = S extends Schema<infer T> ? T : never;

type Members = Readonly<Record<string, Schema>>;
type Shape<Required extends Members, Optional extends Members> = Flat<
  { readonly [Name in keyof Required]: TypeOf<Required[Name]> } & {
    readonly [Name in keyof Optional]?: TypeOf<Optional[Name]> | undefined;
  }
>;
/** One object type out of several, as people read it. */
type Flat<T> = { [Name in keyof T]: T[Name] };

export function text(description?: string): Schema<string> {
  return { type: 'string', ...described(description) };
}

export function number(description?: string): Schema<number> {
  return { type: 'number', ...described(description) };
}

/** A whole number from 0 on. */
export function count(description?: string): Schema<number> {
  return { type: 'integer', minimum: 0, ...described(description) };
}

export function yesNo(description?: string): Schema<boolean> {
  return { type: 'boolean', ...described(description) };
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  description?: string,
): Schema<Value> {
  return { type: 'string', enum: values, ...described(description) };
}

export function nullable<T>(schema: Schema<T>, description?: string): Schema<T | null> {
  return { anyOf: [schema, { type: 'null' }], ...described(description) };
}

export function array<T>(items: Schema<T>, description?: string): Schema<readonly T[]> {
  return { type: 'array', items, ...described(description) };
}

/** An object whose members may have any name. */
export function record<T>(
  additionalProperties: Schema<T>,
  description?: string,
): Schema<Readonly<Record<string, T>>> {
  return { type: 'object', additionalProperties, ...described(description) };
}

/** An object with these members and no others, as request bodies are. */
export function object<R extends Members, O extends Members = Record<never, Schema>>(
  required: R,
  optional?: O,
): Schema<Shape<R, O>> {
  return { ...growing(required, optional), additionalProperties: false };
}

/** An answer to which later versions may add members. */
export function growing<R extends Members, O extends Members = Record<never, Schema>>(
  required: R,
  optional?: O,
): Schema<Shape<R, O>> {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) };
}

/** A schema that the documentation shows under a name of its own. */
export function named<T>(title: string, schema: Schema<T>, description?: string): Schema<T> {
  return { title, ...schema, ...described(description) };
}

function described(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}
