import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Import {
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(entry => relative(root, join(entry.parentPath, entry.name)));
}

const FOLDERS = ['src', 'sim', 'scripts', 'test'];
const files = new Set(FOLDERS.flatMap(sources));

/**
 * Imports of this project's files become paths from the root. Imports of packages keep their names. Leaves out `import()`,
 * with which a page loads code later.
 */
function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)].map(([, name = '']) => {
    if (!name.startsWith('.')) return { from: file, to: name };
    const path = join(dirname(file), name).replace(/\.js$/, '.ts');
    return { from: file, to: files.has(path) ? path : path.replace(/\.ts$/, '.tsx') };
  });
}

const everything = [...files].flatMap(importsOf);
const all = everything.filter(({ from }) => /^(src|sim)\//.test(from));

const LEAVES = [
  'src/core/units.ts',
  'src/core/errors.ts',
  'src/hardware/ports.ts',
  'src/protocol/registers.ts',
];
/** Each folder may import from those after it, and never the other way. */
const LAYERS = ['src/http/', 'src/robot/', 'src/protocol/', 'src/hardware/'];

const rules: Readonly<Record<string, (one: Import) => boolean>> = {
  'core/units.ts, core/errors.ts, hardware/ports.ts and protocol/registers.ts import only each other': ({
    from,
    to,
  }) => !LEAVES.includes(from) || LEAVES.includes(to),
  'src never imports sim': ({ from, to }) => !(from.startsWith('src/') && to.startsWith('sim/')),
  'src/tuning imports only src/schemas and src/core, so that tuning code cannot reach a robot': ({
    from,
    to,
  }) => !from.startsWith('src/tuning/') || /^src\/(tuning|schemas|core)\//.test(to),
  'only src/desk imports src/desk': ({ from, to }) =>
    !to.startsWith('src/desk/') || !from.startsWith('src/') || from.startsWith('src/desk/'),
  'src/desk imports no code that moves a robot, such as src/robot or src/hardware': ({ from, to }) =>
    !/^src\/desk\/(?!page\/)/.test(from) ||
    !to.startsWith('src/') ||
    /^src\/(desk|http|access|events|storage|config|core|schemas|command|daemon)\//.test(to),
  'src/core imports no other folder of src': ({ from, to }) =>
    !from.startsWith('src/core/') || !to.startsWith('src/') || to.startsWith('src/core/'),
  'from src, src/schemas imports only src/core': ({ from, to }) =>
    !from.startsWith('src/schemas/') || !to.startsWith('src/') || /^src\/(schemas|core)\//.test(to),
  'only src/hardware imports i2c-bus and onoff': ({ from, to }) =>
    !/^(i2c-bus|onoff)$/.test(to) || from.startsWith('src/hardware/'),
  'only src/http imports Koa': ({ from, to }) =>
    !/^(koa|@koa\/|koa-)/.test(to) || from.startsWith('src/http/'),
  'only src/http and src/config import Ajv': ({ from, to }) =>
    !/^ajv/.test(to) || from.startsWith('src/http/') || from.startsWith('src/config'),
  'in the order src/http, src/robot, src/protocol, src/hardware, no folder imports an earlier one': ({
    from,
    to,
  }) => {
    const layer = (file: string) => LAYERS.findIndex(folder => file.startsWith(folder));
    return layer(to) < 0 || layer(from) < 0 || layer(from) <= layer(to);
  },
  'src/http, src/robot and src/protocol import only ports.ts from src/hardware': ({ from, to }) =>
    !LAYERS.slice(0, 3).some(folder => from.startsWith(folder)) ||
    !to.startsWith('src/hardware/') ||
    to === 'src/hardware/ports.ts',
};

/** What `scripts` and `test` import from each other. */
const SHARED = /^(scripts\/(script\.ts|(bench|generate|package|step|tune)\/)|test\/support\/)/;

/** All files that a file imports, directly or through other files. */
function reachable(from: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const ahead = [from];
  for (let file = ahead.pop(); file !== undefined; file = ahead.pop()) {
    for (const next of imports.get(file) ?? []) {
      if (!found.has(next)) ahead.push(next);
      found.add(next);
    }
  }
  return found;
}

describe('imports', () => {
  it('are found by this test: more than 100 in src and sim', () => {
    expect(all.length).to.be.greaterThan(100);
  });
  it('between two folders of src and sim go in one direction only', () => {
    const roomOf = (file: string) => /^(?:src|sim)\/[^/]+(?=\/)/.exec(file)?.[0];
    const ways = new Set<string>();
    for (const { from, to } of all) {
      const [room, other] = [roomOf(from), roomOf(to)];
      if (room !== undefined && other !== undefined && room !== other) ways.add(`${room} -> ${other}`);
    }
    const both = [...ways].filter(way => ways.has(way.split(' -> ').reverse().join(' -> ')));
    expect(ways.size).to.be.greaterThan(20);
    expect(both).to.deep.equal([]);
  });
  it('are never circular', () => {
    const imports = new Map<string, string[]>();
    for (const { from, to } of everything) imports.set(from, [...(imports.get(from) ?? []), to]);
    const circular = [...files].filter(file => reachable(file, imports).has(file));
    expect(circular).to.deep.equal([]);
  });
  it('between scripts and test go only to shared files (listed in this test); only test/scripts may import every script', () => {
    const sides = everything.map(({ from, to }) => ({
      from,
      to,
      side: `${from.split('/')[0]} ${to.split('/')[0]}`,
    }));
    const across = sides.filter(({ side }) => /^(scripts test|test scripts)$/.test(side));
    expect(across.length).to.be.greaterThan(10);
    expect(
      across.filter(({ from, to }) => !SHARED.test(to) && !from.startsWith('test/scripts/')),
    ).to.deep.equal([]);
  });
  for (const [rule, holds] of Object.entries(rules)) {
    it(`follow the rule: ${rule}`, () => {
      expect(all.filter(one => !holds(one)).map(({ from, to }) => `${from} -> ${to}`)).to.deep.equal([]);
    });
  }
});

describe('the daemon', () => {
  it('uses no locale functions, because loading their tables blocks the event loop for some 10 ms', () => {
    const loading = [...sources('src'), ...sources('sim')]
      .filter(file => !file.startsWith('src/console/'))
      .filter(file => /\blocaleCompare\b|\btoLocale|\bIntl\b/.test(readFileSync(join(root, file), 'utf8')));
    expect(loading).to.deep.equal([]);
  });
});
