import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { ClockedDaemon } from '../support/clocked-daemon.js';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('GET /metrics', () => {
  const daemon = simulatedDaemon();
  const scrape = async () => (await daemon.get('/metrics')).text;
  const series = (text: string) =>
    new Map(
      text
        .split('\n')
        .filter(line => line !== '' && !line.startsWith('#'))
        .map(line => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)?.[0])] as const),
    );

  it('counts saves, stops, the answers of each route, and the seconds of laser light', async () => {
    await daemon.post('/api/laser', { action: 'on' });
    const lit = 'trunnion_laser_lit_seconds_total';
    const early = series(await scrape()).get(lit);
    await daemon.post('/api/laser', { action: 'off' });
    const off = series(await scrape()).get(lit) ?? Number.NaN;
    expect(off).to.be.greaterThan(early ?? Number.NaN);
    const { body: gains } = await daemon.get('/api/chassis/pidconfig');
    await daemon.post('/api/chassis/pidconfig', gains);
    await daemon.post('/api/chassis/mode/switch', { mode: 'debug' });
    await daemon.post('/api/chassis/autotune', { loop: 'speed' });
    await daemon.post('/api/stop');
    await daemon.post('/api/laser', { action: 'on' });
    const after = series(await scrape());
    expect(after.get(lit), 'while the laser is dark').to.equal(off);
    expect(after.get('trunnion_stopped')).to.equal(1);
    expect(after.get('trunnion_gains_revision{unit="chassis"}')).to.equal(1);
    expect(after.get('trunnion_save_duration_seconds_count{unit="chassis"}')).to.equal(1);
    expect(after.get('trunnion_stop_duration_seconds_bucket{le="+Inf"}')).to.equal(1);
    expect(after.get('trunnion_http_requests_total{route="laser",code="200"}')).to.equal(2);
    expect(after.get('trunnion_http_requests_total{route="laser",code="409"}')).to.equal(1);
    expect(after.get('trunnion_http_requests_total{route="chassisAutotune",code="202"}')).to.equal(1);
    expect(after.get('process_resident_memory_bytes')).to.be.greaterThan(20e6);
  });

  it('counts the polls that an unplugged controller misses, and shows the controller as offline', async () => {
    const before = series(await scrape());
    expect(before.get('trunnion_unit_online{unit="gimbal"}')).to.equal(1);
    await daemon.post('/sim/faults', { target: 'gimbal', fault: 'unplug' });
    let after = before;
    while (after.get('trunnion_unit_online{unit="gimbal"}') !== 0) after = series(await scrape());
    const missed = 'trunnion_missed_polls_total{unit="gimbal"}';
    // On a busy machine, the poll before may have been missed too.
    expect((after.get(missed) ?? 0) - (before.get(missed) ?? 0)).to.be.greaterThan(1);
    expect(after.get('trunnion_bus_errors_total{code="nack"}')).to.be.greaterThan(0);
    await daemon.post('/sim/faults', { target: 'bus', fault: 'clear' });
  });

  it('has at most 150 time series, even after wrong requests to every path', async () => {
    const { body: document } = await daemon.get('/api/openapi.json');
    for (const path of Object.keys(document.paths).filter(one => !one.includes('events')))
      for (const body of ['{', '{"nope":1}', '{}']) {
        await daemon.get(path);
        await daemon.post(path, body);
      }
    const all = series(await scrape());
    expect(all.size).to.be.within(100, 150);
    expect(all.get('trunnion_http_requests_total{route="other",code="other"}')).to.be.greaterThan(0);
  });

  it('counts an authorized request under its route, even after a caller without a token has called every route', async () => {
    const closed = await ClockedDaemon.start({ tokens: true });
    const { paths } = await closed.bodyOf('GET /api/openapi.json', undefined, { as: 'spectator' });
    for (const path of Object.keys(paths))
      for (const method of ['GET', 'POST', 'DELETE']) await closed.ask({ ask: `${method} ${path}` });
    await closed.ask({ ask: 'GET /api/status', as: 'operator' });
    const all = series(await closed.bodyOf('GET /metrics', undefined, { as: 'spectator' }));
    await closed.close();
    expect(all.get('trunnion_http_requests_total{route="status",code="200"}')).to.equal(1);
    expect(all.get('trunnion_http_requests_total{route="other",code="401"}')).to.be.greaterThan(40);
  });

  it('has names and units that promtool accepts', async function () {
    requirePrograms(this, 'promtool');
    const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await scrape(),
      encoding: 'utf8',
    });
    expect([status, stderr]).to.deep.equal([0, '']);
  });
});
