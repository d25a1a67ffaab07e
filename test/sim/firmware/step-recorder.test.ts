import { expect } from 'chai';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../../../src/protocol/registers.js';
import { ControllerHost } from '../../support/controller-host.js';

/* The gate compares captures, byte by byte, with those of the C core: see scripts/firmware/check. */

const COUNTS = 10_000;
const SLOT = 2;

/** In debug with a wave of `periodS` on angle_yaw, one second in: its measured value is the time in seconds. */
function excited(periodS = 0.1) {
  const host = new ControllerHost();
  host.heartbeat(0);
  host.stage();
  host.commit();
  host.enter('debug');
  host.excite(SLOT, 0.2, periodS);
  host.tick(1000);
  const edge = (setpoint: number) => {
    host.loops.nextSetpoint = setpoint;
    host.tick();
  };
  const halfPeriod = (setpoint: number) => {
    edge(setpoint);
    host.tick((periodS / 2) * 1000 - 1);
  };
  const header = () => host.read(REGISTERS.capture);
  const samples = () => {
    const all: { setpoint: number; measured: number }[] = [];
    for (let page = 0; all.length < header().samples; page += 1) {
      host.write(REGISTERS.capture_select, { page });
      const values: Record<string, number> = host.read(capturePageRegister(COUNTS));
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES; sample += 1) {
        const [setpoint, measured] = [values[`setpoint_${sample}`]!, values[`measured_${sample}`]!];
        all.push({ setpoint, measured });
      }
    }
    return all.slice(0, header().samples);
  };
  return { host, edge, halfPeriod, header, samples };
}

describe('step capture', () => {
  it('begins with the last sample before the edge and ends with the last before the next', () => {
    const { host, halfPeriod, header, samples } = excited(0.1);
    halfPeriod(0.2);
    expect(header().number).to.equal(0);
    halfPeriod(-0.2);
    expect(header()).to.deep.equal({ number: 1, slot: SLOT, rate_hz: 1000, decimation: 1, samples: 51 });
    const all = samples();
    expect([all[0], all[1], all[50]]).to.deep.equal([
      { setpoint: 0, measured: 1 },
      { setpoint: 0.2, measured: 1.001 },
      { setpoint: 0.2, measured: 1.05 },
    ]);
    expect(host.status().capture).to.equal(1);
    // It stays for 1 s after a selection, then the newest follows.
    for (let count = 0; count < 10; count += 1) halfPeriod(count % 2 === 0 ? 0.2 : -0.2);
    expect(header().number).to.equal(1);
    host.tick(1000);
    expect(header().number).to.equal(12);
  });

  it('of a long wave takes some of the periods, evenly, over the whole half wave', () => {
    const { halfPeriod, edge, header, samples } = excited(1);
    halfPeriod(0.2);
    edge(-0.2);
    expect(header()).to.include({ decimation: 2, samples: 251 });
    const times = samples().map(({ measured }) => Math.round(measured * 1000) - 1000);
    expect(times).to.deep.equal(times.map((_, index) => index * 2));
  });

  const ends: readonly [string, (host: ControllerHost) => void][] = [
    ['its amplitude is taken away', host => host.excite(SLOT, 0, 0.1)],
    ['the mode changes', host => host.enter('manual')],
    ['a stop takes torque off', host => host.write(REGISTERS.stop, { stop: 1 })],
  ];
  for (const [why, end] of ends) {
    it(`is dropped when ${why}: no figures come from half a wave`, () => {
      const { host, edge, header } = excited(0.1);
      edge(0.2);
      end(host);
      host.tick(1000);
      host.excite(SLOT, 0.2, 0.1);
      edge(0.2);
      expect(header().number).to.equal(0);
    });
  }
});
