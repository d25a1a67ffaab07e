import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { filesIn, put } from './layout.js';

/**
 * The files that the daemon and the simulator load, and no others. All JavaScript of an entry becomes one CommonJS file,
 * because Node 20 takes a code cache for CommonJS only. Packages with native addons stay packages, without unused files.
 */
interface Bundle {
  /** Folders of the npm packages in the bundle, such as "node_modules/koa". */
  readonly packages: readonly string[];
  /** Folders of the packages with an addon to compile. */
  readonly addons: readonly string[];
}

/**
 * The entries of the package: the commands, and the thread that the daemon starts. Paths are relative to `dist`, both
 * in the build and in the bundle.
 */
const ENTRIES = ['src/main', 'sim/main', 'src/autotune/propose-worker'];

/** Gives each module the `import.meta.url` that it had before bundling. */
const ownUrls: Plugin = {
  name: 'own-urls',
  setup(builder) {
    builder.onLoad({ filter: /\/dist\/(src|sim)\/.*\.js$/ }, ({ path }) => {
      const own = relative('dist', path);
      const code = readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        `new URL('${own}', distUrl).href`,
      );
      // The code cache wraps the file in a function, in which a `#!` line is a syntax error.
      return { contents: code.replace(/^#!.*/, ''), resolveDir: dirname(path) };
    });
  },
};

/** Leaves out the tables of character encodings: the daemon refuses all but UTF-8. */
const noEncodings: Plugin = {
  name: 'no-encodings',
  setup(builder) {
    builder.onLoad({ filter: /\/iconv-lite\/encodings\/tables\/.*\.json$/ }, () => ({
      contents: '[]',
      loader: 'json',
    }));
  },
};

/** Keeps only the media types of the file extensions that the daemon uses. Libraries would sort all 2,500 at every start. */
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

/** The relative path from the entry's folder to `dist`. */
function wayUp(entry: string): string {
  return `./${'../'.repeat(entry.split('/').length - 1)}`;
}

/** What one package consists of. */
interface Contents {
  readonly entries: readonly string[];
  /** The folder of the built page, and the file that its build begins with. */
  readonly page: { readonly folder: string; readonly source: string };
  /** The names of the npm packages with addons. */
  readonly natives: readonly string[];
}

/** Bundles the commands of the robot's package and the entries in `more`. */
export function bundleDaemon(
  natives: readonly string[],
  destination: string,
  more: readonly string[] = [],
): Promise<Bundle> {
  const page = { folder: 'dist/console', source: 'src/console/main.tsx' };
  return bundlePrograms({ entries: [...ENTRIES, ...more], page, natives }, destination);
}

/** Bundles programs with their page. */
export async function bundlePrograms(
  { entries, page: { folder, source }, natives }: Contents,
  destination: string,
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
      // Replaces import() by require. Node 20 cannot resolve import() in code from a code cache.
      supported: { 'dynamic-import': false },
      external: [...natives],
      // A shorter text starts faster. Names and lines stay, for stack traces.
      minifyWhitespace: true,
      minifySyntax: true,
      lineLimit: 120,
      legalComments: 'none',
      plugins: [ownUrls, noEncodings, fewTypes],
      // In a bundle, `import.meta` of a library would be empty. Fail the build instead.
      logOverride: { 'empty-import-meta': 'error' },
      banner: {
        js: `const distUrl = new URL('${wayUp(entry)}', require('node:url').pathToFileURL(__filename));`,
      },
    });
  const programs = await Promise.all(entries.map(program));
  for (const file of filesIn(folder)) put(destination, join(folder, file), readFileSync(join(folder, file)));
  const page = await build({
    ...common,
    entryPoints: [source],
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
