import { expect } from 'chai';
import { pino } from 'pino';
import { RobotError } from '../../src/core/errors.js';
import { Incidents } from '../../src/events/incidents.js';
import { ManualClock } from '../support/manual-clock.js';

describe('Incidents', () => {
  it('are logged once at once, and their repeats once a minute', async () => {
    const lines: Record<string, unknown>[] = [];
    const clock = new ManualClock();
    const incidents = new Incidents({
      log: pino({}, { write: line => lines.push(JSON.parse(line)) }),
      clock,
    });
    const nack = new RobotError('nack', { address: 32 });
    for (let second = 0; second < 150; second += 1) {
      incidents.record('gimbal', 'poll failed', nack);
      incidents.record('gimbal', 'poll failed', nack);
      await clock.advance(1000);
    }
    incidents.record('chassis', 'poll failed', nack);
    const logged = lines.map(({ unit, msg, code, address, repeats }) => [
      unit,
      msg,
      code,
      address ?? repeats,
    ]);
    expect(logged).to.deep.equal([
      ['gimbal', 'poll failed', 'nack', 32],
      ['gimbal', 'poll failed, repeatedly', 'nack', 119],
      ['gimbal', 'poll failed', 'nack', 32],
      ['gimbal', 'poll failed, repeatedly', 'nack', 119],
      ['gimbal', 'poll failed', 'nack', 32],
      ['chassis', 'poll failed', 'nack', 32],
    ]);
  });
});
