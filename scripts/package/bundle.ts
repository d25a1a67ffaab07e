import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { filesIn, put } from './layout.js';

/**
 * What the daemon and the simulator load, and nothing else, decided by their imports: everything in JavaScript becomes
 * one file for each entry, in CommonJS, because Node 20 takes a code cache for nothing else; packages with native addons
 * stay packages, of which only the loaded files are taken.
 */
export interface Bundle {
  /** Folders of the npm packages inside, as "node_modules/koa". */
  readonly packages: readonly string[];
  /** Those packages that have an addon to compile. */
  readonly addons: readonly string[];
}

/** Commands, and the thread that the daemon starts, below `dist` in the build as in the bundle. */
const ENTRIES = ['src/main', 'sim/main', 'src/autotune/propose-worker'];
/** The operator's page, as built and compressed by scripts/console/build.ts. */
const PAGE = 'dist/console';

/** Lets a module find what lies beside its own place, although it now stands in a file with others, which knows `dist`. */
const ownUrls: Plugin = {
  name: 'own-urls',
  setup(builder) {
    builder.onLoad({ filter: /\/dist\/(src|sim)\/.*\.js$/ }, ({ path }) => {
      const own = relative('dist', path);
      const code = readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        `new URL('${own}', distUrl).href`,
      );
      // a code cache is made of a function around the file, and there a first line for the shell has no place
      return { contents: code.replace(/^#!.*/, ''), resolveDir: dirname(path) };
    });
  },
};

/** Tables of encodings that are asked for when a body comes in one: the daemon refuses all but UTF-8. */
const noEncodings: Plugin = {
  name: 'no-encodings',
  setup(builder) {
    builder.onLoad({ filter: /\/iconv-lite\/encodings\/tables\/.*\.json$/ }, () => ({
      contents: '[]',
      loader: 'json',
    }));
  },
};

/**
 * Of 2,500 media types, which libraries sort at every start, those that the daemon may name by an extension. What is
 * named in full needs no table.
 */
const fewTypes: Plugin = {
  name: 'few-types',
  setup(builder) {
    builder.onLoad({ filter: /\/mime-db\/db\.json$/ }, ({ path }) => {
      const all: Record<string, { extensions?: readonly string[] }> = JSON.parse(readFileSync(path, 'utf8'));
      const few = Object.entries(all).filter(([, { extensions = [] }]) =>
        extensions.some(extension => EXTENSIONS.includes(extension)),
      );
      return { contents: JSON.stringify(Object.fromEntries(few)), loader: 'json' };
    });
  },
};
const EXTENSIONS: readonly string[] = ['json', 'txt', 'html', 'css', 'js', 'bin'];

function packagesOf(metafile: Metafile): string[] {
  const folders = Object.keys(metafile.inputs).flatMap(
    file => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  );
  return [...new Set(folders)].sort();
}

/** From the entry's folder to `dist`. */
function wayUp(entry: string): string {
  return `./${'../'.repeat(entry.split('/').length - 1)}`;
}

/** `more` are entries besides the package's own. */
export async function bundleDaemon(
  natives: readonly string[],
  destination: string,
  more: readonly string[] = [],
): Promise<Bundle> {
  const common = {
    bundle: true,
    platform: 'node',
    target: 'node20',
    metafile: true,
    preserveSymlinks: true,
    logLevel: 'warning',
  } as const;
  const program = (entry: string) =>
    build({
      ...common,
      entryPoints: [{ in: `dist/${entry}.js`, out: entry }],
      outdir: join(destination, 'dist'),
      format: 'cjs',
      // What is loaded later is so by require: Node 20 finds nothing for an import() in code that comes from a cache.
      supported: { 'dynamic-import': false },
      external: [...natives],
      // a shorter text is read sooner at a start, and takes less room on the SD card; names and lines stay for stack traces
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 120,
      legalComments: 'none',
      plugins: [ownUrls, noEncodings, fewTypes],
      // a library's own, which would be empty
      logOverride: { 'empty-import-meta': 'error' },
      banner: {
        js: `const distUrl = new URL('${wayUp(entry)}', require('node:url').pathToFileURL(__filename));`,
      },
    });
  const programs = await Promise.all([...ENTRIES, ...more].map(program));
  for (const file of filesIn(PAGE)) put(destination, join(PAGE, file), readFileSync(join(PAGE, file)));
  const page = await build({
    ...common,
    entryPoints: ['src/console/main.tsx'],
    platform: 'browser',
    write: false,
  });

  const native = await build({
    ...common,
    stdin: { contents: natives.map(name => `require('${name}');`).join('\n'), resolveDir: '.' },
    write: false,
  });
  const nativePackages = packagesOf(native.metafile);
  const loaded = Object.keys(native.metafile.inputs).filter(file => file.includes('node_modules/'));
  for (const file of [...loaded, ...nativePackages.map(folder => `${folder}/package.json`)]) {
    put(destination, file, readFileSync(file));
  }
  return {
    packages: [...programs, page, native].flatMap(built => packagesOf(built.metafile)),
    addons: nativePackages.filter(folder => readdirSync(folder).includes('binding.gyp')),
  };
}
