import { connect } from 'node:net';
import { expect } from 'chai';
import { ROLE_NAMES, type Role } from '../../src/access/roles.js';
import { hashOf, newSecret } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { realDisk } from '../../src/storage/disk.js';
import { call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const SECRETS: Readonly<Record<Role, string>> = {
  referee: newSecret(),
  operator: newSecret(),
  spectator: newSecret(),
};
const CONNECTIONS = 10;

describe('a flood of wrong tokens', function () {
  this.timeout(180_000);
  const daemon = simulatedDaemon();
  const as = (secret: string, method: string, path: string, body?: unknown) =>
    call(daemon.url, method, path, body, { authorization: `Bearer ${secret}` });

  before(async () => {
    const tokens = ROLE_NAMES.map(role => ({ name: role, role, hash: hashOf(SECRETS[role]) }));
    await writeTokens(realDisk, daemon.folder, tokens);
    await eventually(async () => (await daemon.get('/api/session')).body.access === 'closed');
  });

  it('costs nobody else more than as many right ones, locks nobody out, and is a line a minute in the log', async () => {
    const flood = async (count: number, secret: () => string): Promise<string[]> => {
      const each = () =>
        calledInTurn(daemon.url, '/api/resume', Array.from({ length: count / CONNECTIONS }, secret));
      return (await Promise.all(Array.from({ length: CONNECTIONS }, each))).flat();
    };
    /** The median time that the driver waits for the dark meanwhile. */
    const darkMs = async (meanwhile: Promise<unknown>): Promise<number> => {
      const took: number[] = [];
      let isOver = false;
      const over = meanwhile.finally(() => {
        isOver = true;
      });
      while (!isOver) {
        const startMs = performance.now();
        const { status } = await as(SECRETS.operator, 'POST', '/api/laser', { action: 'off' });
        took.push(performance.now() - startMs);
        expect(status).to.equal(200);
      }
      await over;
      took.sort((a, b) => a - b);
      return took[took.length >> 1] ?? 0;
    };
    const right = flood(2000, () => SECRETS.spectator);
    const rightMs = await darkMs(right);
    expect(new Set(await right)).to.deep.equal(new Set(['403']));
    const wrong = flood(10_000, newSecret);
    const wrongMs = await darkMs(wrong);
    expect(new Set(await wrong)).to.deep.equal(new Set(['401']));
    expect(wrongMs).to.be.lessThan(3 * rightMs + 10);
    // From the same address, a right one is as good as before, and the log has a line a minute of all that.
    expect((await as(SECRETS.referee, 'GET', '/api/session')).body.name).to.equal('referee');
    const { events } = (await as(SECRETS.spectator, 'GET', '/api/log')).body;
    const refusals = events.filter(({ outcome }: { outcome?: string }) => outcome === 'token-unknown');
    const ofResume = refusals.filter(({ what }: { what: string }) => what === 'resume');
    expect(ofResume.length).to.be.within(1, 3);
  });
});

/** The statuses of as many calls, one after another on one connection, each with a token of its own. */
function calledInTurn(url: string, path: string, secrets: readonly string[]): Promise<string[]> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const statuses: string[] = [];
    const socket = connect(Number(port), hostname);
    const ask = () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\nAuthorization: Bearer`;
      socket.write(`${head} ${secrets[statuses.length]}\r\n\r\n`);
    };
    socket.on('connect', ask);
    socket.on('error', reject);
    // An answer is one packet, or the rest of one that began with the status.
    socket.on('data', part => {
      const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(part.toString()) ?? [];
      if (status === undefined) return;
      statuses.push(status);
      if (statuses.length < secrets.length) return ask();
      resolve(statuses);
      socket.destroy();
    });
  });
}
