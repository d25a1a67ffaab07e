import { expect } from 'chai';
import { Child } from '../support/child.js';
import { call, eventually, suiteFolder } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';

describe('on a simulated robot,', function () {
  this.timeout(60_000);
  let url = '';
  let daemon: Child | undefined;

  before(async function () {
    requirePrograms(this, 'flock');
    daemon = new Child('sim/main.js', ['--port', '0', '--state', state()]);
    url = await daemon.url();
  });
  after(() => daemon?.kill('SIGTERM'));
  const state = suiteFolder();

  async function trunnion(line: string): Promise<{ exit: number | string; text: string }> {
    const child = new Child('src/main.js', [...line.split(' '), '--simulated', '--state', state()]);
    const exit = await child.exited;
    return { exit, text: child.lines.join('\n') };
  }

  it('commands such as `trunnion stop` and `trunnion status` exit with code 0 and say that the robot is simulated', async () => {
    const add = await trunnion('token add desk --role referee');
    expect([add.exit, add.text.includes(`${url}/#token=`)]).to.deep.equal([0, true]);
    expect(add.text).to.include('simulated');
    const stop = await trunnion('stop');
    expect([stop.exit, stop.text]).to.deep.equal([
      0,
      'Stopped: torque is off, and the pin of the laser, if it has one, is dark. The robot is simulated.',
    ]);
    const status = await trunnion('status');
    expect(status.exit).to.equal(0);
    expect(status.text)
      .to.match(/safe +yes: .*STOPPED/)
      .and.match(/access +closed.*desk \(referee\)/)
      .and.include('SIMULATED');
    const unlock = await trunnion('unlock --json');
    expect(JSON.parse(unlock.text)).to.deep.include({ ok: true, simulated: true });
    const log = await trunnion('log verify');
    expect(log.exit).to.equal(0);
    expect(log.text).to.include('lines of a simulated robot are unchanged');
    const doctor = await trunnion('doctor');
    expect([doctor.exit, doctor.text.includes(`serves ${url}`)]).to.deep.equal([0, true]);
    expect((await trunnion('token remove desk')).exit).to.equal(0);
  });

  it('`trunnion status` exits with code 1 and names the gimbal controller when that controller is offline', async () => {
    const fault = (name: string) => call(url, 'POST', '/sim/faults', { target: 'gimbal', fault: name });
    await fault('unplug');
    const offline =
      'Gimbal is offline. The gimbal controller does not answer on the I2C bus. Check its power and cable.';
    await eventually(async () => JSON.parse((await trunnion('status --json')).text).wrong.length > 0);
    const { exit, text } = await trunnion('status --json');
    expect([exit, JSON.parse(text).wrong[0]]).to.deep.equal([1, offline]);
    await fault('plug');
  });

  it('`trunnion bench` measures the running daemon and prints nine figures', async () => {
    const { exit, text } = await trunnion('bench --seconds 1 --json');
    expect([
      exit,
      Object.values(JSON.parse(text)).filter(value => typeof value === 'number').length,
    ]).to.deep.equal([0, 9]);
  });

  it('`trunnion status --url` exits with code 3 if a token is missing, and with code 4 if no daemon answers', async () => {
    const remote = async (...args: string[]) => {
      const child = new Child('src/main.js', ['status', ...args]);
      return [await child.exited, child.lines.join('\n')];
    };
    expect((await remote('--url', url))[1]).to.include('SIMULATED');
    const nobody = await remote('--url', 'http://127.0.0.1:1');
    expect(nobody).to.deep.equal([4, 'No daemon answers at http://127.0.0.1:1.']);
    await trunnion('token add desk --role referee');
    const refusal = 'This robot needs a token: add --token TOKEN, or set TRUNNION_TOKEN.';
    expect(await remote('--url', url)).to.deep.equal([3, refusal]);
  });
});
