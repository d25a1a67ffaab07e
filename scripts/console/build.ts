import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { version } from '../../src/core/version.js';
import type { ConsoleFile } from '../../src/http/console.js';
import { script } from '../script.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The sources of each page, and where it is built. */
const PAGES = [
  { source: 'src/console', target: 'dist/console' },
  { source: 'src/desk/page', target: 'dist/desk-page' },
];
type Place = (typeof PAGES)[number];

interface Asset {
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array;
}

/** Bundles script and style sheet. Their names contain a hash of their content. */
async function bundle({ source, target }: Place): Promise<Asset[]> {
  const { outputFiles } = await build({
    entryPoints: [join(source, 'main.tsx'), join(source, 'style.css')],
    outdir: target,
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    define: { VERSION: JSON.stringify(version) },
    legalComments: 'none',
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    target: ['chrome109', 'firefox115', 'safari16.4'],
    write: false,
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, contents }) => ({
    name: path.slice(target.length + 1),
    type: `${path.endsWith('.css') ? 'text/css' : 'text/javascript'}; charset=utf-8`,
    content: contents,
  }));
}

function page({ source }: Place, assets: readonly Asset[]): Asset {
  const html = readFileSync(join(source, 'index.html'), 'utf8');
  const linked = html.replace(/"(main|style)\.(js|css)"/g, (reference, name) => {
    const asset = assets.find(one => one.name.startsWith(`${name}-`));
    if (asset === undefined) throw new Error(`nothing was built for ${reference}`);
    return `"/${asset.name}"`;
  });
  return { name: 'index.html', type: 'text/html; charset=utf-8', content: Buffer.from(linked) };
}

function write({ target }: Place, { name, type, content }: Asset): ConsoleFile {
  writeFileSync(join(target, name), content);
  writeFileSync(join(target, `${name}.gz`), gzipSync(content, { level: 9 }));
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 16);
  const immutable = name !== 'index.html';
  return { path: immutable ? `/${name}` : '/', file: name, type, hash, immutable };
}

await script(async () => {
  for (const { source, target } of PAGES) {
    const place = { source: join(root, source), target: join(root, target) };
    rmSync(place.target, { recursive: true, force: true });
    mkdirSync(place.target, { recursive: true });
    const assets = await bundle(place);
    const manifest = [page(place, assets), ...assets].map(asset => write(place, asset));
    writeFileSync(join(place.target, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  }
});
