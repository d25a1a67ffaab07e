import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { pageRoutes } from '../../src/http/console.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('the page over HTTP', () => {
  const daemon = simulatedDaemon();
  const built = fileURLToPath(new URL('../../console/', import.meta.url));
  const paths = pageRoutes(built).map(([path]) => path);

  /** The answer as it is sent. fetch would decompress it. */
  const raw = (path: string, accepted: string) =>
    new Promise<{ headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer }>(
      (resolve, reject) => {
        const headers = { 'accept-encoding': accepted };
        const asked = request(new URL(path, daemon.url), { headers, agent: false }, async response => {
          resolve({ headers: response.headers, body: Buffer.concat(await response.toArray()) });
        });
        asked.on('error', reject).end();
      },
    );

  it('refers only to files that the daemon serves', async () => {
    const page = (await raw('/', 'identity')).body.toString();
    const links = [...page.matchAll(/(?:src|href)="(\/[^"]*)"/g)].map(([, link]) => link);
    expect(['/', ...links].sort()).to.deep.equal([...paths].sort());
    expect(page).to.not.match(/https?:\/\/(?!www\.w3\.org)|<style|<script>|style=|\son\w+=/);
  });

  it('is sent compressed, with headers that forbid foreign scripts and let browsers cache every file except "/" for a year', async () => {
    for (const path of paths) {
      const plain = await raw(path, 'identity');
      const packed = await raw(path, 'br, gzip');
      expect(packed.headers).to.include({
        'content-encoding': 'gzip',
        vary: 'Accept-Encoding',
        'cache-control': path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
      });
      expect(packed.headers.etag).to.not.equal(plain.headers.etag);
      expect(gunzipSync(packed.body).equals(plain.body)).to.equal(true);
      expect(plain.headers['content-security-policy'])
        .to.match(/^default-src 'self';/)
        .and.not.contain('unsafe');
    }
  });

  it('fails with an error that names the command `npm run build` if the page has not been built', () =>
    inTemporaryFolder(async folder => {
      const [path, send] = pageRoutes(folder)[0]!;
      expect(path).to.equal('/');
      expect(() => send({} as never))
        .to.throw()
        .with.nested.property('context.cure')
        .that.contains('npm run build');
    }));
});
