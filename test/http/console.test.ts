import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import Router from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import { serveConsole } from '../../src/http/console.js';

const built = fileURLToPath(new URL('../../console/', import.meta.url));

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

describe('the console over HTTP', () => {
  let server: Server;
  let url: string;
  const router = new Router();
  serveConsole(router, built);
  const paths = router.stack.map(layer => String(layer.path));

  before(done => {
    const app = new Koa();
    app.use(router.routes());
    server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  after(() => server.close());

  /** The answer as it stands on the wire, which fetch would unpack. */
  async function raw(path: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> {
    const { request } = await import('node:http');
    return new Promise((resolve, reject) => {
      request(new URL(path, url), { method, headers }, response => {
        const parts: Buffer[] = [];
        response.on('data', part => parts.push(part));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: new Headers(
              Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
            ),
            body: Buffer.concat(parts),
          }),
        );
      })
        .on('error', reject)
        .end();
    });
  }

  const linksOf = (page: string) =>
    [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, link = '']) => link);

  it('names its files, and nothing else, in the page', async () => {
    const page = (await raw('/')).body.toString();
    expect(['/', ...linksOf(page)].sort()).to.deep.equal([...paths].sort());
    expect(page).to.not.match(/https?:\/\/(?!www\.w3\.org)|<style|<script>|style=|\son\w+=/);
  });

  it('is the same in gzip', async () => {
    for (const path of paths) {
      const plain = await raw(path, 'GET', { 'accept-encoding': 'identity' });
      const packed = await raw(path, 'GET', { 'accept-encoding': 'br, gzip' });
      expect(packed.headers.get('content-encoding')).to.equal('gzip');
      expect(packed.headers.get('vary')).to.match(/accept-encoding/i);
      expect(packed.headers.get('etag')).to.not.equal(plain.headers.get('etag'));
      expect(gunzipSync(packed.body).equals(plain.body)).to.equal(true);
    }
  });

  it('lets files be kept for ever and asks for the page anew', async () => {
    for (const path of paths) {
      const { headers } = await raw(path);
      const expected = path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable';
      expect(headers.get('cache-control')).to.equal(expected);
      expect(headers.get('content-security-policy')).to.match(/^default-src 'self';/);
      expect(headers.get('content-security-policy')).to.not.contain('unsafe');
    }
  });

  it('answers 304 to whoever has it, and HEAD without a body', async () => {
    const { headers, body } = await raw('/');
    expect((await raw('/', 'GET', { 'if-none-match': headers.get('etag') ?? '' })).status).to.equal(304);
    const head = await raw('/', 'HEAD');
    expect(head.status).to.equal(200);
    expect(head.headers.get('content-length')).to.equal(String(body.length));
    expect(head.body.length).to.equal(0);
  });

  it('says what to do when it is not built', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trunnion-'));
    try {
      const router = new Router();
      serveConsole(router, folder);
      const act = router.stack[0]!.stack.at(-1)!;
      expect(() => act({} as never, () => Promise.resolve()))
        .to.throw()
        .with.nested.property('context.cure')
        .that.contains('npm run build');
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
