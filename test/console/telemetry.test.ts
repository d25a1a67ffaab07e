import { expect } from 'chai';
import { csv, telemetryFile } from '../../src/console/model/csv.js';
import { PlotSettings, PlotWindow } from '../../src/console/model/plot-window.js';
import {
  gapsIn,
  marksBetween,
  TelemetryBuffer,
  TelemetryView,
  Timeline,
} from '../../src/console/model/telemetry.js';
import type { Mode } from '../../src/core/units.js';
import type { UnitStatus } from '../../src/schemas/status.js';
import type { Telemetry as Sample } from '../../src/schemas/telemetry.js';
import { ManualClock } from '../support/manual-clock.js';
import { statusWith, UNIT_STATUS } from '../support/status.js';
import { FakeDaemon } from './fake-daemon.js';
import { FakePage } from './fake-page.js';

const sample = (value: number): Sample => ({
  t: value,
  gimbal: { angle_yaw: { setpoint: value, measured: -value, output: 2 * value } },
  chassis: null,
});

/** A page whose daemon has these readings from before. */
const pageWith = (...values: number[]) => {
  const daemon = new FakeDaemon();
  daemon.past = values.map(sample);
  return FakePage.open(daemon);
};

describe('the telemetry buffer', () => {
  it('keeps only the newest samples when it is full, and returns null for a unit without readings', () => {
    const buffer = new TelemetryBuffer(10);
    for (let index = 0; index < 25; index += 1) buffer.push(sample(index));
    const columns = buffer.read('gimbal', 'angle_yaw', 0, 100);
    expect(columns.t).to.deep.equal([15, 16, 17, 18, 19, 20, 21, 22, 23, 24]);
    expect(columns.measured.at(-1)).to.equal(-24);
    const { setpoint } = buffer.read('chassis', 'speed', 20, 100);
    expect(setpoint).to.deep.equal([null, null, null, null, null, null]);
  });

  it('also returns one sample before and one after the requested period, so that lines reach both edges of the plot', () => {
    const buffer = new TelemetryBuffer(100);
    for (let index = 0; index < 50; index += 1) buffer.push(sample(index));
    const columns = buffer.read('gimbal', 'angle_yaw', 10.5, 12.5);
    expect(columns.t).to.deep.equal([10, 11, 12, 13]);
  });

  it('returns null for a missing reading, so that the plot draws no line across the gap', () => {
    const buffer = new TelemetryBuffer(100);
    buffer.push(sample(1));
    buffer.push({ t: 1, gimbal: null, chassis: null });
    buffer.push(sample(9));
    const columns = buffer.read('gimbal', 'angle_yaw', 0, 10);
    expect(columns.measured).to.deep.equal([-1, null, -9]);
  });
});

describe('a gap in the readings', () => {
  for (const [what, t, measured, untilT, gaps] of [
    ['is not found if the readings came every 20 ms', [1, 1.02, 1.04], [1, 1, 1], 1.04, []],
    ['lasts until now if no later reading has come', [1, 1.02, 1.02], [1, 1, null], 4, [[1.02, 4]]],
    ['ends at the next reading', [1, 1.02, 6], [1, null, 1], 6, [[1, 6]]],
    [
      'begins at the first sample if the unit was offline from the beginning',
      [1, 1.5, 2],
      [null, null, 1],
      2,
      [[1, 2]],
    ],
    ['is not found if no reading has ever come', [], [], 9, []],
  ] as const) {
    it(what, () => {
      expect(gapsIn({ t: [...t], measured: [...measured] }, untilT)).to.deep.equal(gaps);
    });
  }

  it('grows on the plot while the page receives nothing', async () => {
    const page = await pageWith(0);
    const { telemetry } = page.model;
    const gapS = () => {
      const columns = telemetry.buffer.read('gimbal', 'angle_yaw', -10, 10);
      const [[fromT, toT] = [0, 0]] = gapsIn(columns, telemetry.nowT);
      return toT - fromT;
    };
    page.isDeaf = true;
    await page.wait(1000);
    telemetry.draw();
    const [frame, count, beforeS] = [telemetry.frame.value, telemetry.count, gapS()];
    await page.wait(3000);
    telemetry.draw();
    expect(telemetry.count).to.equal(count);
    expect(gapS() - beforeS).to.be.closeTo(3, 0.1);
    expect(telemetry.frame.value).to.be.greaterThan(frame);
  });
});

describe('the number of retries on the I2C bus', () => {
  it('since the previous reading is stored with each reading, or null if that number is unknown', () => {
    const telemetry = new TelemetryView(new ManualClock());
    telemetry.take(sample(1));
    telemetry.heardRetries(40);
    telemetry.heardRetries(47);
    telemetry.take(sample(2));
    telemetry.heardRetries(undefined);
    telemetry.take(sample(3));
    const { retries } = telemetry.buffer.read('gimbal', 'angle_yaw', -1e6, 1e6);
    expect(retries).to.deep.equal([null, 7, null]);
  });
});

describe('telemetry from before the page was opened', () => {
  it('is requested only once, and is inserted in time order before the newer telemetry', async () => {
    const page = await pageWith(-3, -2, 0);
    await page.wait(500);
    const { t, measured } = page.model.telemetry.buffer.read('gimbal', 'angle_yaw', -10, 10);
    expect(t.slice(0, 2)).to.deep.equal([-3, -2]);
    expect(measured.slice(0, 2)).to.deep.equal([3, 2]);
    expect(t).to.deep.equal([...t].sort((one, other) => one - other));
    expect(page.sentTo(/telemetry/, 'GET')).to.have.lengthOf(1);
  });
});

describe('the time axis of the plot', () => {
  it("does not step back if the daemon restarts and the daemon's time begins at 0 again", () => {
    const timeline = new Timeline();
    timeline.streamOpened();
    expect(timeline.pageTime(5000, 100)).to.equal(100);
    expect(timeline.pageTime(5001, 101.2)).to.equal(101);
    timeline.streamOpened();
    expect(timeline.pageTime(3, 110)).to.equal(110);
    expect(timeline.pageTime(4, 111)).to.equal(111);
  });

  it('continues without a jump after an interruption of the event stream, and never runs backwards', () => {
    const timeline = new Timeline();
    timeline.streamOpened();
    timeline.pageTime(5000, 100);
    timeline.streamOpened();
    expect(timeline.pageTime(5010, 110.1)).to.equal(110);
    timeline.streamOpened();
    expect(timeline.pageTime(7, 50)).to.equal(110);
  });
});

describe('the plot window', () => {
  it('follows the present time, does not move during a pause, and shows the newest data again after the pause', () => {
    const window = new PlotWindow();
    window.runTo(100);
    expect([window.range, window.zeroT]).to.deep.equal([[85, 100], 100]);
    window.pause();
    window.runTo(120);
    expect([window.range, window.zeroT]).to.deep.equal([[85, 100], 100]);
    window.unpause();
    expect(window.range).to.deep.equal([105, 120]);
  });

  it('can be zoomed, panned and shortened, but cannot be panned beyond the present', () => {
    const window = new PlotWindow();
    window.runTo(100);
    window.zoom(70, 80);
    window.pan(0.5);
    expect(window.range).to.deep.equal([75, 85]);
    window.span(5);
    expect(window.range).to.deep.equal([80, 85]);
    for (let count = 0; count < 20; count += 1) window.pan(0.5);
    expect(window.range).to.deep.equal([95, 100]);
  });
});

const unit = (mode: Mode, revision: number, online = true): UnitStatus => ({
  ...UNIT_STATUS,
  mode,
  online,
  gains: { revision, savedAt: null, applied: true },
});
const status = (gimbal: UnitStatus, stopped = false) => statusWith({ gimbal, stopped });

describe('the marks in the plot', () => {
  for (const [what, after, texts] of [
    ['do not appear if the status has not changed', status(unit('manual', 1)), []],
    ['say "rev 2" after a save of revision 2', status(unit('manual', 2)), ['rev 2']],
    ['say "auto" after a switch to auto mode', status(unit('auto', 1)), ['auto']],
    ['say "offline" after a controller went offline', status(unit('manual', 1, false)), ['offline']],
    ['say "STOP" after a stop', status(unit('manual', 1), true), ['STOP']],
  ] as const) {
    it(what, () => {
      expect(marksBetween(status(unit('manual', 1)), after, 7).map(mark => mark.text)).to.deep.equal(texts);
    });
  }
});

describe('a CSV file', () => {
  it('has a header line, numbers with up to nine significant digits, and an empty cell for a missing value', () => {
    const columns = { t_s: [0, 0.02], setpoint_rad: [1, 1], measured_rad: [Math.fround(0.1), null] };
    const text = csv(columns, 'about');
    expect(text).to.equal('# about\r\nt_s,setpoint_rad,measured_rad\r\n0,1,0.100000001\r\n0.02,1,\r\n');
  });

  it('of a plot has only the samples that the plot shows, and names the loop, its gains and their revision', async () => {
    const { model } = await pageWith(-3, -2, -1, 0);
    const settings = new PlotSettings();
    settings.view.zoom(-2.5, -0.5);
    const { name, content } = telemetryFile(model, { unit: 'gimbal', loop: 'angle_yaw' }, settings);
    expect(name).to.match(/^gimbal-angle_yaw-rev1-20\d\d-.*\.csv$/);
    expect(content).to.match(
      /^# gimbal angle_yaw, revision 1, kp [\d.]+ ki [\d.]+ kd [\d.]+\r\n# t_s is seconds before /,
    );
    expect(content).to.match(/\r\nt_s,setpoint_rad,measured_rad\r\n-2,-2,2\r\n-1,-1,1\r\n$/);
  });
});
