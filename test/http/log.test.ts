import { expect } from 'chai';
import type { LogEvent } from '../../src/schemas/log.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('GET /api/log', () => {
  const daemon = simulatedDaemon();
  let before: number;

  const events = async (): Promise<readonly LogEvent[]> =>
    (await daemon.get(`/api/log?after=${before}`)).body.events;
  const lines = async () =>
    (await events()).map(({ what, unit, who, outcome }) =>
      [what, unit, who, outcome].filter(Boolean).join(' '),
    );

  beforeEach(async () => {
    await daemon.post('/api/resume');
    before = (await daemon.get('/api/log')).body.events.at(-1).seq;
  });

  it('begins with the start', async () => {
    const { boot, events, dropped } = (await daemon.get('/api/log')).body;
    expect(boot).to.match(/^[0-9a-f]{16}$/);
    expect(dropped).to.equal(0);
    expect(events[0]).to.include({ seq: 1, what: 'start' });
  });

  it('says who asked what, what came of it, and what changed', async () => {
    await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
    const modes = (await events()).filter(({ what }) => what === 'mode');
    expect(modes.map(({ unit, who, outcome }) => [unit, who, outcome])).to.deep.equal([
      ['gimbal', undefined, undefined],
      ['gimbal', '127.0.0.1', 'done'],
    ]);
    const [change, act] = modes;
    expect(change?.detail).to.deep.equal({ before: 'manual', after: 'auto' });
    expect(act?.detail).to.deep.equal({ mode: 'auto' });
  });

  it('names the code of what was refused, and takes nothing from a body that was not taken', async () => {
    await daemon.post('/api/stop');
    await daemon.post('/api/laser', { action: 'on' });
    await daemon.post('/api/laser', { action: 'explode' });
    expect((await lines()).slice(-2)).to.deep.equal([
      'laser 127.0.0.1 stopped',
      'laser 127.0.0.1 invalid-request',
    ]);
    expect((await events()).at(-1)).not.to.have.property('detail');
  });

  it('leaves readers out', async () => {
    await daemon.get('/api/status');
    await daemon.get('/api/gimbal/pidconfig');
    expect((await events()).filter(({ who }) => who !== undefined)).to.deep.equal([]);
  });

  it('shows a controller that restarted', async () => {
    await daemon.post('/sim/faults', { target: 'gimbal', fault: 'brownout' });
    await eventually(async () => (await lines()).includes('reset gimbal'));
  });

  it('shows a controller that went and came', async () => {
    await daemon.post('/sim/faults', { target: 'chassis', fault: 'unplug' });
    await eventually(async () => (await lines()).includes('offline chassis'));
    await daemon.post('/sim/faults', { target: 'chassis', fault: 'plug' });
    await eventually(async () => (await lines()).includes('online chassis'));
  });

  it('comes live as event `log`', async () => {
    const abort = new AbortController();
    const stream = await fetch(new URL('/api/events', daemon.url), { signal: abort.signal });
    await daemon.post('/api/stop');
    let text = '';
    const decoder = new TextDecoder();
    for await (const part of stream.body ?? []) {
      text += decoder.decode(part, { stream: true });
      if (/event: log\ndata: .*"what":"stop".*\n\n/.test(text)) break;
    }
    abort.abort();
  });

  for (const after of ['-1', 'x', '1.5', '']) {
    it(`refuses after=${after}`, async () => {
      expect((await daemon.get(`/api/log?after=${after}`)).status).to.equal(400);
    });
  }
});
