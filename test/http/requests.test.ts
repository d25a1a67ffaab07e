import { expect } from 'chai';
import { ClockedDaemon, type Settings } from '../support/clocked-daemon.js';
import type { Sent } from '../support/memory-call.js';
import type { Received } from '../support/raw-answer.js';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Requests that test/contract has not recorded. */
describe('a request', () => {
  let daemon: ClockedDaemon;
  const start = async (settings?: Settings) => {
    daemon = await ClockedDaemon.start(settings);
  };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert.
  const ask = (ask: string, body?: unknown, more: Partial<Sent> = {}): Promise<Received & { body?: any }> =>
    daemon.ask({ ask, ...(body !== undefined && { body }), ...more });
  const coded = async (answer: Promise<Received & { body?: { code?: string } }>) => {
    const { status, body } = await answer;
    return body?.code ?? status;
  };
  beforeEach(() => start());
  afterEach(() => daemon.close());

  const CHASSIS = {
    speed: { kp: 1, ki: 2, kd: 3 },
    angle: { kp: 4, ki: 5, kd: 6 },
    position: { kp: 7, ki: 8, kd: 9 },
  };
  const gains = (kp: number) => ({ ...CHASSIS, speed: { kp, ki: 2, kd: 3 } });
  const save = 'POST /api/chassis/pidconfig';
  const shown = (text: string) => (text.length > 40 ? 'wrong gains' : `\`${text}\``);
  const angleOf = (text: string) => JSON.stringify(CHASSIS).replace('"ki":5', text);

  it('with a member name that repeats 400 times gets an answer of less than 8 KiB, with 20 faults', async () => {
    const name = '~'.repeat(2000);
    const text = `{"${name}":{"":0${',"":0'.repeat(400)}}}`;
    const { body } = await ask('POST /api/laser', undefined, { text, headers: JSON_TYPE });
    expect([body.code, body.errors.length]).to.deep.equal(['invalid-request', 20]);
    expect(JSON.stringify(body).length).to.be.below(8192);
  });

  for (const [path, text, faults] of [
    ['/api/laser', '{}', ['/action is missing']],
    ['/api/laser', '{"action":"ON","a/b~c":1}', ['/a~1b~0c is not known', '/action must be one of on, off']],
    ['/api/laser', '[]', [' must be an object']],
    ['/api/laser', '{"__proto__":{"action":"off"}}', ['/action is missing', '/__proto__ is not known']],
    [
      '/api/chassis/pidconfig',
      '{"speed":{"kp":"1","ki":2},"angle":{"kp":4,"ki":5,"kd":6},"wheel":{}}',
      ['/position is missing', '/wheel is not known', '/speed/kd is missing', '/speed/kp must be a number'],
    ],
    ['/api/chassis/pidconfig', angleOf('"ki":1e999'), ['/angle/ki must be a finite number']],
    ['/api/chassis/pidconfig', angleOf('"ki":-3.5e38'), ['/angle/ki must be >= -3.4028234663852886e+38']],
    ['/api/chassis/pidconfig', angleOf('"ki":5,"k\\u0069":6'), ['/angle/ki is given twice']],
    ['/api/chassis/pidconfig/restore', '{"revision":1.5}', ['/revision must be an integer']],
    [
      '/api/gimbal/autotune',
      '{"loop":"speed"}',
      ['/loop must be one of visual_yaw, visual_pitch, angle_yaw, angle_pitch'],
    ],
  ] as const) {
    it(`to ${path} with ${shown(text)} is refused, and the answer names every fault: "${faults.map(one => one.trim()).join('", "')}"`, async () => {
      const { body } = await ask(`POST ${path}`, undefined, { text, headers: JSON_TYPE });
      expect(body).to.include({ code: 'invalid-request', title: 'Invalid request' });
      const found = body.errors.map(({ pointer, detail }: Record<string, string>) => `${pointer} ${detail}`);
      expect(found).to.have.members(faults);
    });
  }

  for (const [what, text] of [
    ['a C0 control character', 'a\u001bb'],
    ['the control character DEL', 'a\u007fb'],
    ['a C1 control character', 'a\u009bb'],
    ['a control character for the text direction', 'a\u202eb'],
    ['a line separator', 'a\u2028b'],
    ['half a surrogate pair', 'a\ud83d'],
    ['a blank at its end', 'a '],
  ] as const) {
    it(`is refused if the name of a match, desk or profile has ${what}`, async () => {
      for (const [path, body] of [
        ['match', { id: text, revision: 1, phase: 'pre' }],
        ['match/lease', { holder: text, ttlMs: 1000 }],
        ['chassis/profiles', { name: text }],
      ] as const)
        expect(await coded(ask(`POST /api/${path}`, body)), path).to.equal('invalid-request');
    });
  }

  it('to lock the robot takes effect even if its reason has control characters, is too long or is empty', async () => {
    const kept = `\ufffd[2J${'x'.repeat(196)}`;
    const { lock } = (await ask('POST /api/match/lock', { reason: `\u001b[2J${'x'.repeat(300)}` })).body;
    const { events } = (await ask('GET /api/log')).body;
    expect([lock.reason, events.at(-1).detail.reason]).to.deep.equal([kept, kept]);
    expect((await ask('POST /api/match/lock', { reason: '' })).body.lock.reason).to.equal('');
  });

  it('to load or remove a stored profile succeeds even if the name of the profile has a character that is not allowed in new names', async () => {
    const [name, stored] = ['old \u009b', { note: '', starred: false, savedAt: '', gains: gains(5) }];
    const profiles = { format: 'trunnion profiles 1', gimbal: [], chassis: [{ name, ...stored }] };
    await daemon.close();
    await start({ files: { 'profiles.json': JSON.stringify(profiles) } });
    expect((await ask('POST /api/chassis/profiles/load', { name })).body).to.deep.equal(gains(5));
    expect(await coded(ask('POST /api/chassis/profiles/remove', { name }))).to.equal(200);
  });

  for (const [what, bytes, headers, code] of [
    ['a body of 4 KiB', 4096, { 'Content-Type': 'Application/JSON; charset=utf-8' }, 200],
    ['a body of 4 KiB and one byte', 4097, JSON_TYPE, 'body-too-large'],
    ['a compressed body', 20, { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, 'bad-media-type'],
    ['another content type', 20, { 'Content-Type': 'application/vnd.api+json' }, 'bad-media-type'],
  ] as const) {
    it(`with ${what} is ${code === 200 ? 'accepted' : `refused as \`${code}\``}`, async () => {
      const text = `{"action":"off"${' '.repeat(bytes - 16)}}`;
      expect(await coded(ask('POST /api/laser', undefined, { text, headers }))).to.equal(code);
    });
  }

  it('to save gains or to load a profile is refused if its `baseRevision` is not the current revision of the gains', async () => {
    expect(await coded(ask(`${save}?baseRevision=0`, gains(1)))).to.equal(200);
    expect(await coded(ask(`${save}?baseRevision=0`, gains(5)))).to.equal('changed-meanwhile');
    await ask('POST /api/chassis/profiles', { name: 'carpet', gains: gains(5) });
    const load = ask('POST /api/chassis/profiles/load?baseRevision=0', { name: 'carpet' });
    expect(await coded(load)).to.equal('changed-meanwhile');
    expect((await ask('GET /api/chassis/pidconfig')).body).to.deep.equal(gains(1));
    for (const wrong of ['1.5', 'one', '1&baseRevision=1', '99999999999999999']) {
      const { errors } = (await ask(`${save}?baseRevision=${wrong}`, gains(9))).body;
      expect(errors[0].pointer, wrong).to.equal('/baseRevision');
    }
  });

  it('to load a profile puts the name of the profile into the history of the gains, and into the status until the next save', async () => {
    const profile = async () => (await ask('GET /api/status')).body.chassis.gains.profile;
    await ask('POST /api/chassis/profiles', { name: 'carpet', gains: gains(5) });
    await ask('POST /api/chassis/profiles/load', { name: 'carpet' });
    expect(await profile()).to.equal('carpet');
    await ask(save, gains(6));
    expect(await profile()).to.equal(undefined);
    const [second, first] = (await ask('GET /api/chassis/pidconfig/history')).body;
    expect([second.profile, first.profile]).to.deep.equal([undefined, 'carpet']);
    expect([second.by, first.by]).to.deep.equal(['192.0.2.1', '192.0.2.1']);
  });

  it('to replace a profile keeps the old note if the request has no new one, and changes nothing if `dryRun` is set', async () => {
    const keep = (body: object) => ask('POST /api/chassis/profiles', body);
    await keep({ name: 'carpet', note: 'hall 3', gains: gains(30) });
    const again = { name: 'carpet', gains: gains(40), replace: true };
    const { body: replacing } = await keep({ ...again, dryRun: true });
    expect(replacing).to.deep.include({ kept: false });
    expect(replacing.difference.speed).to.deep.equal({ before: gains(30).speed, after: gains(40).speed });
    expect((await ask('GET /api/profiles')).body.chassis[0].gains).to.deep.equal(gains(30));
    expect((await keep(again)).body.profile).to.include({ note: 'hall 3' });
  });

  it('to store the export of a removed profile restores the whole profile except the time of the save', async () => {
    const keep = (body: object) => ask('POST /api/chassis/profiles', body);
    await keep({ name: 'carpet', note: 'hall 3', gains: gains(40) });
    const { body, headers } = await ask('GET /api/profiles');
    expect(Number(headers['Content-Length']), 'readable').to.be.above(1.2 * JSON.stringify(body).length);
    for (const { name, savedAt, ...set } of body.chassis) {
      await ask('POST /api/chassis/profiles/remove', { name });
      expect(await coded(keep({ name, ...set }))).to.equal(200);
    }
    const withoutTimes = (_: string, value: unknown) =>
      typeof value === 'string' && /Z$/.test(value) ? '' : value;
    const after = (await ask('GET /api/profiles')).body;
    expect(JSON.stringify(after, withoutTimes)).to.equal(JSON.stringify(body, withoutTimes));
  });

  it('to store a profile is refused, and stores nothing, while the gains journal cannot be read', async () => {
    await daemon.close();
    await start({ files: { 'gains.jsonl': '{"format":2}\n' } });
    const keep = ask('POST /api/chassis/profiles', { name: 'carpet', gains: gains(1) });
    expect(await coded(keep)).to.equal('storage-failed');
    expect((await ask('GET /api/chassis/profiles')).body).to.deep.equal([]);
  });

  it('for a trial of gains is refused if `hostSilenceMs` is 0, because controllers then wait forever for a silent daemon', async () => {
    await daemon.close();
    await start({ config: { supervision: { hostSilenceMs: 0 } } });
    const trial = ask('POST /api/chassis/pidconfig/trial', { gains: CHASSIS, leaseS: 1 });
    expect(await coded(trial)).to.equal('silence-too-long');
  });

  it('for rates beyond the configured limits drives at the limits, and never above them, even if a limit is between two counts of the register', async () => {
    await daemon.close();
    await start({ config: { drive: { yaw: 1.2348, speed: 1.001 } } });
    const rates = { gimbal: { yaw: -3, pitch: 0 }, chassis: { speed: 3, turn: 0 } };
    const { body } = await ask('POST /api/drive', { ...rates, id: 'stick', holdMs: 200 });
    expect(body).to.deep.equal({ gimbal: { yaw: -1.234, pitch: 0 }, chassis: { speed: 1.001, turn: 0 } });
  });

  it('for an excitation during a tuning is refused if its amplitude is above 0, and ends the tuning if its amplitude is 0', async () => {
    await ask('POST /api/gimbal/mode/switch', { mode: 'debug' });
    const { id } = (await ask('POST /api/gimbal/autotune', { loop: 'angle_yaw' })).body;
    const excite = (amplitude: number) =>
      coded(ask('POST /api/gimbal/excitation', { loop: 'angle_yaw', amplitude, periodS: 2 }));
    expect(await excite(0.1)).to.equal('tune-running');
    expect(await coded(ask('POST /api/chassis/autotune', { loop: 'speed', id }))).to.equal('trial-ended');
    expect(await excite(0)).to.equal(200);
    expect((await ask('GET /api/gimbal/autotune')).body.tune).to.include({ id, state: 'aborted' });
  });

  for (const [what, line, headers, status] of [
    ['to the host "LOCALHOST."', '/healthz', { Host: 'LOCALHOST.' }, 200],
    ['from a sandboxed page', '/healthz', { Origin: 'null' }, 403],
    [
      'from the page of the daemon behind a proxy',
      '/healthz',
      { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://proxy' },
      200,
    ],
    ['for a URL of another host', 'http://evil.example/healthz', {}, 421],
    [
      'for a URL of the daemon with the Host header of another host',
      'http://localhost/healthz',
      { Host: 'evil.example' },
      200,
    ],
    ['for a URL with a user name', 'http://%@localhost/healthz', {}, 200],
    ['with a compressed transfer encoding', '/healthz', { 'Transfer-Encoding': 'gzip, chunked' }, 501],
    ['with a chunked transfer encoding', '/healthz', { 'Transfer-Encoding': 'Chunked' }, 200],
  ] as const) {
    it(`${what} is ${status === 200 ? 'accepted' : `refused with ${status}`}`, async () => {
      expect((await ask(`GET ${line}`, undefined, { headers })).status).to.equal(status);
    });
  }
});
