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

/** Marks a member that may be absent. Neither Ajv nor JSON sees a symbol. */
const OPTIONAL = Symbol('optional');

interface Optional<T = unknown> extends Schema<T> {
  readonly [OPTIONAL]: true;
}

/** The TypeScript type of what a schema describes. */
export type TypeOf<S extends Schema> = S extends Schema<infer T> ? T : never;

type Members = Readonly<Record<string, Schema>>;
type OptionalIn<M extends Members> = {
  [Name in keyof M]: M[Name] extends Optional ? Name : never;
}[keyof M];
type Shape<M extends Members> = Flat<
  { readonly [Name in Exclude<keyof M, OptionalIn<M>>]: TypeOf<M[Name]> } & {
    readonly [Name in OptionalIn<M>]?: TypeOf<M[Name]> | undefined;
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

/** A member of an object that may be absent. */
export function optional<T>(schema: Schema<T>): Optional<T> {
  return { ...schema, [OPTIONAL]: true };
}

/** An object with these members and no others, as request bodies are. */
export function object<M extends Members>(members: M): Schema<Shape<M>> {
  return { ...growing(members), additionalProperties: false };
}

/** An answer to which later versions may add members. */
export function growing<M extends Members>(members: M): Schema<Shape<M>> {
  const required = Object.entries(members).filter(([, member]) => !(OPTIONAL in member));
  return { type: 'object', properties: members, required: required.map(([name]) => name) };
}

/** A schema that the documentation shows under a name of its own. */
export function named<T>(title: string, schema: Schema<T>, description?: string): Schema<T> {
  return { title, ...schema, ...described(description) };
}

/** A request body with a name. */
export function body<M extends Members>(title: string, members: M): Schema<Shape<M>> {
  return named(title, object(members));
}

/** An answer with a name. */
export function answer<M extends Members>(title: string, members: M, description?: string): Schema<Shape<M>> {
  return named(title, growing(members), description);
}

function described(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}
