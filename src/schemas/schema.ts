import { CONTROLS } from '../core/control-characters.js';

/**
 * JSON Schema that carries the TypeScript type of what it describes. Type, check and documentation of a body come
 * from one declaration, so they cannot differ.
 */
export interface Schema<T = unknown> {
  readonly [keyword: string]: unknown;
  /** This member exists only for the compiler. No value ever has it. */
  readonly [TYPE]?: T;
}

declare const TYPE: unique symbol;

/** Marks a member that may be absent. Ajv and JSON ignore symbols. */
const OPTIONAL = Symbol('optional');

interface Optional<T = unknown> extends Schema<T> {
  readonly [OPTIONAL]: true;
}

/** The TypeScript type of what a schema describes. */
export type TypeOf<S extends Schema> = S extends Schema<infer T> ? T : never;

type Members = Readonly<Record<string, Schema>>;
type OptionalIn<M extends Members> = { [N in keyof M]: M[N] extends Optional ? N : never }[keyof M];
type Shape<M extends Members> = Flat<
  { readonly [Name in Exclude<keyof M, OptionalIn<M>>]: TypeOf<M[Name]> } & {
    readonly [Name in OptionalIn<M>]?: TypeOf<M[Name]> | undefined;
  }
>;
/** Merges several object types into one, for readable types in an editor. */
type Flat<T> = { [Name in keyof T]: T[Name] };

export function text(description?: string): Schema<string> {
  return { type: 'string', description };
}

const NAME_RULE = 'No control characters, no lone surrogates, and no blank at either end.';
/** The pattern of `name`. */
export const NAME = `^[^\\s${CONTROLS}]([^${CONTROLS}]*[^\\s${CONTROLS}])?$`;

/** A name or an id that a caller gives and people read. A name that was stored by an older version may differ. */
export function name(maxLength: number, description?: string): Schema<string> {
  return { ...text([description, NAME_RULE].filter(Boolean).join(' ')), maxLength, pattern: NAME };
}

/** A note that a caller gives and people read. */
export function note(maxLength: number): Schema<string> {
  return { ...text('For people. No control characters.'), maxLength, pattern: `^[^${CONTROLS}]*$` };
}

export function number(description?: string): Schema<number> {
  return { type: 'number', description };
}

/** The member `notAfterT` of bodies that a network may hold back. */
export const notAfterT = number(
  'Later than this, the request is refused. Seconds, as `t` of telemetry. At most 5 s ahead.',
);

/** A whole number from 0 on. */
export function count(description?: string): Schema<number> {
  return { type: 'integer', minimum: 0, description };
}

export function yesNo(description?: string): Schema<boolean> {
  return { type: 'boolean', description };
}

export function oneOf<const V extends string>(values: readonly V[], description?: string): Schema<V> {
  return { type: 'string', enum: values, description };
}

export function nullable<T>(schema: Schema<T>, description?: string): Schema<T | null> {
  return { anyOf: [schema, { type: 'null' }], description };
}

export function array<T>(items: Schema<T>, description?: string): Schema<readonly T[]> {
  return { type: 'array', items, description };
}

/** An object whose members may have any name. */
export function record<T>(values: Schema<T>, description?: string): Schema<Readonly<Record<string, T>>> {
  return { type: 'object', additionalProperties: values, description };
}

/** A member of an object that may be absent. */
export function optional<T>(schema: Schema<T>): Optional<T> {
  return { ...schema, [OPTIONAL]: true };
}

/** An object with these members and no others, as request bodies are. */
export function object<M extends Members>(members: M): Schema<Shape<M>> {
  return { ...growing(members), additionalProperties: false };
}

/** An object to which later versions may add members, as they may to answers. */
export function growing<M extends Members>(members: M): Schema<Shape<M>> {
  const required = Object.entries(members).filter(([, member]) => !(OPTIONAL in member));
  return { type: 'object', properties: members, required: required.map(([name]) => name) };
}

/** A schema that the documentation shows under this title. */
export function named<T>(title: string, schema: Schema<T>, description?: string): Schema<T> {
  return { title, ...schema, description };
}

/** A request body with a title. */
export function body<M extends Members>(title: string, members: M): Schema<Shape<M>> {
  return named(title, object(members));
}

/** An answer with a title. */
export function answer<M extends Members>(title: string, members: M, description?: string): Schema<Shape<M>> {
  return named(title, growing(members), description);
}
