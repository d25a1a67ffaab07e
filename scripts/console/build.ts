import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { minify } from 'terser';
import { version } from '../../src/core/version.js';
import type { ConsoleFile } from '../../src/http/console.js';
import { script } from '../script.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const source = join(root, 'src/console');
const target = join(root, 'dist/console');

interface Asset {
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array;
}

/** uPlot hangs its optional parts on itself at the end of its file. Without these lines the bundler leaves out what the page never uses. */
const leanPlot: Plugin = {
  name: 'lean-plot',
  setup: ({ onLoad }) =>
    onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path }) => {
      const [plot, ...extras] = readFileSync(path, 'utf8').split('\nuPlot.assign = assign;');
      if (extras.length !== 1) throw new Error(`${path} does not end as it did`);
      return { contents: `${plot}\nexport { uPlot as default };` };
    }),
};

/**
 * Script and style sheet, bundled and small, under names that change with their content. What `later.ts` names comes in a
 * file of its own, which pages fetch when somebody looks. The page itself is all in `chunk`; `main` would only fetch that.
 */
async function bundle(): Promise<Asset[]> {
  const { outputFiles } = await build({
    entryPoints: [join(source, 'main.tsx'), join(source, 'style.css')],
    outdir: target,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    plugins: [leanPlot],
    minify: true,
    define: { VERSION: JSON.stringify(version) },
    legalComments: 'none',
    format: 'esm',
    target: ['chrome109', 'firefox115', 'safari16.4'],
    write: false,
    logLevel: 'warning',
  });
  return Promise.all(
    outputFiles
      .filter(({ path }) => !path.startsWith(join(target, 'main-')))
      .map(async ({ path, contents, text }) => {
        const isStyle = path.endsWith('.css');
        return {
          name: path.slice(target.length + 1),
          type: isStyle ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
          content: isStyle ? contents : await smaller(text),
        };
      }),
  );
}

/** What esbuild leaves to be had: 4 % of the script, compressed. */
async function smaller(script: string): Promise<Uint8Array> {
  const { code = script } = await minify(script, {
    module: true,
    ecma: 2020,
    compress: { passes: 3, unsafe_arrows: true },
  });
  return Buffer.from(code);
}

function page(assets: readonly Asset[]): Asset {
  const html = readFileSync(join(source, 'index.html'), 'utf8');
  const linked = html.replace(/"(chunk|style)\.(js|css)"/g, (reference, name, extension) => {
    const asset = assets.find(one => one.name.startsWith(`${name}-`) && one.name.endsWith(`.${extension}`));
    if (asset === undefined) throw new Error(`nothing was built for ${reference}`);
    return `"/${asset.name}"`;
  });
  const small = linked.replace(/\n\s+/g, '\n');
  return { name: 'index.html', type: 'text/html; charset=utf-8', content: Buffer.from(small) };
}

/** Blocks smaller than usual suit what the page is made of: some 130 bytes less. */
function packed(content: Uint8Array): Uint8Array {
  return [5, 7]
    .map(memLevel => gzipSync(content, { level: 9, memLevel }))
    .reduce((least, one) => (one.length < least.length ? one : least));
}

function write({ name, type, content }: Asset): ConsoleFile {
  writeFileSync(join(target, name), content);
  writeFileSync(join(target, `${name}.gz`), packed(content));
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  const immutable = name !== 'index.html';
  return { path: immutable ? `/${name}` : '/', file: name, type, hash, immutable };
}

await script(async () => {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const assets = await bundle();
  const manifest = [page(assets), ...assets].map(write);
  writeFileSync(join(target, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
});
