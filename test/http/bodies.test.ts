import { expect } from 'chai';
import type { Context } from 'koa';
import { RobotError } from '../../src/core/errors.js';
import { UNIT_LIST } from '../../src/core/units.js';
import { stillWanted } from '../../src/http/body.js';
import { call } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const CHASSIS = {
  speed: { kp: 1, ki: 2, kd: 3 },
  angle: { kp: 4, ki: 5, kd: 6 },
  position: { kp: 7, ki: 8, kd: 9 },
};
const chassisWith = (ki: string) => JSON.stringify(CHASSIS).replace('"ki":5', ki);

describe('a request that waits', () => {
  it('is wanted until its caller has gone or has lost the right', () => {
    const ctx = (gone: boolean, requireRight = () => {}) =>
      ({ socket: { destroyed: gone, readableEnded: false }, state: { requireRight } }) as unknown as Context;
    const lost = () => {
      throw new RobotError('token-unknown');
    };
    expect(stillWanted(ctx(false))).not.to.throw();
    expect(stillWanted(ctx(true)))
      .to.throw(RobotError)
      .with.property('code', 'caller-gone');
    expect(stillWanted(ctx(false, lost)))
      .to.throw(RobotError)
      .with.property('code', 'token-unknown');
  });
});

describe('request bodies', () => {
  const daemon = simulatedDaemon();

  const faults: readonly [string, string, unknown, readonly [string, string][]][] = [
    ['a missing member', '/api/laser', {}, [['/action', 'is missing']]],
    ['an unknown member', '/api/laser', { action: 'off', colour: 1 }, [['/colour', 'is not known']]],
    ['a wrong value', '/api/laser', { action: 'ON' }, [['/action', 'must be one of on, off']]],
    [
      'a wrong type',
      '/api/gimbal/mode/switch',
      { mode: 3 },
      [
        ['/mode', 'must be a string'],
        ['/mode', 'must be one of auto, manual, debug'],
      ],
    ],
    ['an array', '/api/laser', [], [['', 'must be an object']]],
    [
      'every fault at once',
      '/api/chassis/pidconfig',
      { speed: { kp: '1', ki: 2 }, angle: CHASSIS.angle, wheel: {} },
      [
        ['/position', 'is missing'],
        ['/wheel', 'is not known'],
        ['/speed/kd', 'is missing'],
        ['/speed/kp', 'must be a number'],
      ],
    ],
    [
      'a number that is not finite',
      '/api/chassis/pidconfig',
      chassisWith('"ki":1e999'),
      [['/angle/ki', 'must be a finite number']],
    ],
    [
      'a number beyond float32',
      '/api/chassis/pidconfig',
      chassisWith('"ki":-3.5e38'),
      [['/angle/ki', 'must be >= -3.4028234663852886e+38']],
    ],
    [
      'a member given twice',
      '/api/chassis/pidconfig',
      chassisWith('"ki":5,"k\\u0069":6'),
      [['/angle/ki', 'is given twice']],
    ],
    [
      'a name that needs escaping',
      '/api/laser',
      { action: 'off', 'a/b~c': 1 },
      [['/a~1b~0c', 'is not known']],
    ],
    [
      'a bad revision',
      '/api/chassis/pidconfig/restore',
      { revision: 1.5 },
      [['/revision', 'must be an integer']],
    ],
  ];
  for (const [name, path, body, expected] of faults) {
    it(`lists ${name}`, async () => {
      const answer = await call(daemon.url, 'POST', path, body);
      expect(answer.status).to.equal(400);
      expect(answer.headers.get('content-type')).to.match(/^application\/problem\+json/);
      expect(answer.body).to.include({ code: 'invalid-request', status: 400, title: 'Invalid request' });
      const faults = answer.body.errors.map(({ pointer, detail }: Record<string, string>) => [
        pointer,
        detail,
      ]);
      expect(faults).to.have.deep.members(expected);
    });
  }

  const refusals: readonly [string, string, Record<string, string>, number, string][] = [
    ['malformed JSON', '{"action":', {}, 400, 'bad-json'],
    ['a JSON string', '"off"', {}, 400, 'bad-json'],
    ['no body', '', {}, 400, 'invalid-request'],
    ['plain text', '{"action":"off"}', { 'content-type': 'text/plain' }, 415, 'bad-media-type'],
    ['a form', 'action=off', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'bad-media-type'],
    [
      'another JSON type',
      '{"action":"off"}',
      { 'content-type': 'application/vnd.api+json' },
      415,
      'bad-media-type',
    ],
    ['a compressed body', '{"action":"off"}', { 'content-encoding': 'gzip' }, 415, 'bad-media-type'],
    ['over 4 KiB', `{"action":"off"${' '.repeat(4082)}}`, {}, 413, 'body-too-large'],
    ['prototype poisoning', '{"__proto__":{"action":"off"}}', {}, 400, 'bad-json'],
  ];
  for (const [name, body, headers, status, code] of refusals) {
    it(`refuses ${name}`, async () => {
      const answer = await call(daemon.url, 'POST', '/api/laser', body, headers);
      expect([answer.status, answer.body.code]).to.deep.equal([status, code]);
    });
  }

  it('takes 4 KiB, and a charset in the content type', async () => {
    const body = `{"action":"off"${' '.repeat(4080)}}`;
    expect(body).to.have.length(4096);
    const answer = await call(daemon.url, 'POST', '/api/laser', body, {
      'content-type': 'Application/JSON; charset=utf-8',
    });
    expect(answer.text).to.equal('{"state":"off"}');
  });

  it('changes nothing when it refuses', async () => {
    for (const { name } of UNIT_LIST) {
      const before = await call(daemon.url, 'GET', `/api/${name}/pidconfig`);
      await call(daemon.url, 'POST', `/api/${name}/pidconfig`, { ...before.body, extra: 1 });
      expect((await call(daemon.url, 'GET', `/api/${name}/pidconfig`)).body).to.deep.equal(before.body);
    }
  });
});
