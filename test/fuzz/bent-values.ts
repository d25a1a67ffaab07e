import fc from 'fast-check';

/** Replacements for a value: texts that are not JSON, or that programs read differently. */
const ODD_TEXTS = [
  '1e999',
  '-1e999',
  '1e-999',
  '-0',
  '00',
  '0x10',
  '1_0',
  'NaN',
  'Infinity',
  'undefined',
  "'auto'",
  '',
];
/** Values that are known to break programs. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.1,
  1e308,
  -1e308,
  5e-324,
  3.4028235677973366e38,
  2 ** 53,
  -(2 ** 53),
  '',
  ' auto',
  'AUTO',
  'auto\u0000',
  '\ud800',
  '__proto__',
  'constructor',
  'x'.repeat(5000),
  [],
  [[]],
  {},
  { length: -1 },
];
const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'kp ',
  'KP',
  '',
  '\u0000',
  'x',
  'length',
  'loop',
  'mode',
];

const PLACEHOLDER = '\u0001odd text\u0001';

/** A value that replaces another one. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...ODD_VALUES),
  fc.constantFrom(...ODD_TEXTS).map(text => `${PLACEHOLDER}${text}`),
  fc.jsonValue({ maxDepth: 3 }),
  fc.double(),
);

interface Bend {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add' | 'repeat';
  readonly name: string;
  readonly value: unknown;
}

const bend: fc.Arbitrary<Bend> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom('replace', 'remove', 'add', 'repeat'),
  name: fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string({ unit: 'binary', maxLength: 8 })),
  value: odd,
});

/** Returns the JSON text of `valid` with some members changed. Sometimes it changes none. */
export function bentJson(valid: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const bent = fc.tuple(valid, fc.array(bend, { maxLength: 3 })).map(([value, bends]) => {
    const members = bends.reduce(bentBy, membersOf(value));
    return textOf(members);
  });
  return fc.oneof(
    { arbitrary: bent, weight: 8 },
    { arbitrary: fc.string({ unit: 'binary' }), weight: 1 },
    {
      arbitrary: fc.nat({ max: 5000 }).map(depth => '['.repeat(depth)),
      weight: 1,
    },
  );
}

/** An object becomes the list of its members, so that a name can occur twice. Any other value stays unchanged. */
interface Members {
  readonly members: readonly (readonly [name: string, value: Members])[] | undefined;
  readonly value: unknown;
}

function membersOf(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { members: undefined, value };
  return { members: Object.entries(value).map(([name, member]) => [name, membersOf(member)]), value };
}

/** Changes one of the nested values. `at` is its number, modulo their count; 0 is the outermost. */
function bentBy(whole: Members, { at, how, name, value }: Bend): Members {
  const places = placesIn(whole);
  let left = at % places;
  const visit = (node: Members): Members => {
    const isHere = left === 0;
    left -= 1;
    if (isHere) {
      if (node.members === undefined || how === 'replace') return membersOf(value);
      if (how === 'add') return { ...node, members: [...node.members, [name, membersOf(value)]] };
      if (how === 'remove') return { ...node, members: node.members.slice(1) };
      return { ...node, members: [...node.members, ...node.members.slice(0, 1)] };
    }
    return { ...node, members: node.members?.map(([its, member]) => [its, visit(member)] as const) };
  };
  return visit(whole);
}

function placesIn({ members }: Members): number {
  return 1 + (members ?? []).reduce((sum, [, member]) => sum + placesIn(member), 0);
}

function textOf({ members, value }: Members): string {
  if (members !== undefined) {
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`).join(',')}}`;
  }
  if (typeof value === 'string' && value.startsWith(PLACEHOLDER)) return value.slice(PLACEHOLDER.length);
  return JSON.stringify(value) ?? '';
}
