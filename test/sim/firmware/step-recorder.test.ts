import { expect } from 'chai';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../../../src/protocol/registers.js';
import { ControllerHost } from '../../support/controller-host.js';

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
  const page = (number: number) => {
    host.write(REGISTERS.capture_select, { page: number });
    return host.read(capturePageRegister(COUNTS));
  };
  const samples = () => {
    const all: { setpoint: number; measured: number }[] = [];
    for (let at = 0; all.length < header().samples; at += 1) {
      const values: Record<string, number> = page(at);
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES; sample += 1) {
        const [setpoint, measured] = [values[`setpoint_${sample}`]!, values[`measured_${sample}`]!];
        all.push({ setpoint, measured });
      }
    }
    return all.slice(0, header().samples);
  };
  return { host, edge, halfPeriod, header, page, samples };
}

describe('step capture', () => {
  it('is none before the first edge', () => {
    const { host, header, page } = excited();
    expect(header()).to.deep.equal({ number: 0, slot: 0, rate_hz: 1000, decimation: 1, samples: 0 });
    expect(Object.values(page(3))).to.deep.equal([0, 3, ...Array(14).fill(0)]);
    expect(host.status().capture).to.equal(0);
  });

  it('begins with the last sample before the edge and ends with the last before the next', () => {
    const { host, halfPeriod, header, samples } = excited(0.1);
    halfPeriod(0.2);
    expect(host.status().capture).to.equal(0);
    halfPeriod(-0.2);
    expect(header()).to.deep.equal({ number: 1, slot: SLOT, rate_hz: 1000, decimation: 1, samples: 51 });
    const all = samples();
    expect(all[0]).to.deep.equal({ setpoint: 0, measured: 1 });
    expect(all[1]).to.deep.equal({ setpoint: 0.2, measured: 1.001 });
    expect(all[50]).to.deep.equal({ setpoint: 0.2, measured: 1.05 });
    expect(host.status().capture).to.equal(1);
  });

  for (const [periodS, decimation, count] of [
    [0.1, 1, 51],
    [0.512, 1, 256],
    [0.514, 2, 129],
    [1, 2, 251],
    [20, 40, 251],
  ] as const) {
    it(`of a wave of ${periodS} s takes every ${decimation}. period, evenly, over the whole half wave`, () => {
      const { halfPeriod, edge, header, samples } = excited(periodS);
      halfPeriod(0.2);
      edge(-0.2);
      expect(header()).to.include({ decimation, samples: count });
      const times = samples().map(({ measured }) => Math.round(measured * 1000) - 1000);
      const inRange = times.filter(time => time < 2000);
      expect(inRange).to.deep.equal(inRange.map((_, index) => index * decimation));
    });
  }

  it('stays for 1 s after each selection, then the newest follows', () => {
    const { host, halfPeriod, header, page } = excited(0.1);
    halfPeriod(0.2);
    halfPeriod(-0.2);
    page(0);
    for (let count = 0; count < 10; count += 1) halfPeriod(count % 2 === 0 ? 0.2 : -0.2);
    page(1);
    host.tick(999);
    expect([header().number, host.status().capture, page(1).number]).to.deep.equal([1, 1, 1]);
    host.tick(1000);
    expect(header().number).to.equal(12);
  });

  it('counts from 1 to 255 and again from 1, until power is lost', () => {
    const { host, halfPeriod, header } = excited(0.1);
    for (let count = 0; count < 256; count += 1) halfPeriod(count % 2 === 0 ? 0.2 : -0.2);
    expect(header().number).to.equal(255);
    halfPeriod(0.2);
    expect(header().number).to.equal(1);
    host.controller.reset();
    expect(header().number).to.equal(0);
  });

  const ends: readonly [string, (host: ControllerHost) => void][] = [
    ['its amplitude is taken away', host => host.excite(SLOT, 0, 0.1)],
    ['another loop is excited', host => host.excite(3, 0.1, 0.1)],
    ['the mode changes', host => host.enter('manual')],
    ['a stop takes torque off', host => host.write(REGISTERS.stop, { stop: 1 })],
    ['the host is silent', host => host.heartbeat(1)],
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
