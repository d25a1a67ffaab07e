import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const CLIENTS = [
  ['python3', 'docs/clients/drive.py'],
  ['node', 'docs/clients/drive.mjs'],
] as const;

describe('the example drive client', function () {
  this.timeout(60_000);
  const daemon = simulatedDaemon();
  const axes = async (unit: 'gimbal' | 'chassis') => (await daemon.get('/sim/state')).body[unit].axes;
  const chassis = () => axes('chassis');
  const stands = async () => Math.abs((await chassis()).speedMS) < 0.01;
  const yawRad = async () => (await axes('gimbal')).yaw.angleRad;

  /** The client, which reads keys from its input. */
  const driveBy = (program: string, file: string) =>
    spawn(program, [file, daemon.url], { stdio: ['pipe', 'ignore', 'inherit'] });
  /** Presses these keys in turn while `act` runs, and then kills the client. */
  const whilePressed = async (
    child: ReturnType<typeof driveBy>,
    keys: readonly string[],
    act: () => Promise<void>,
  ) => {
    let count = 0;
    const pressed = setInterval(() => child.stdin.write(keys[count++ % keys.length]), 50);
    try {
      await act();
    } finally {
      clearInterval(pressed);
      child.kill('SIGKILL');
    }
    await eventually(stands);
  };

  for (const [program, file] of CLIENTS) {
    it(`in ${program} moves chassis and gimbal while two keys are pressed, and the chassis halts when the client is frozen or killed`, async function () {
      requirePrograms(this, program);
      const { xM } = await chassis();
      const fromRad = await yawRad();
      const child = driveBy(program, file);
      const press = () => setInterval(() => child.stdin.write('w\x1b[D'), 100);
      let pressed = press();
      try {
        await eventually(async () => (await chassis()).xM > xM + 0.2);
        await eventually(async () => (await yawRad()) > fromRad + 0.2);
        child.kill('SIGSTOP');
        await eventually(stands);
        clearInterval(pressed);
        const frozenM = (await chassis()).xM;
        child.kill('SIGCONT');
        await delay(800);
        expect((await chassis()).xM, 'by the keys of the frozen time').to.be.closeTo(frozenM, 0.02);
        pressed = press();
        await eventually(async () => !(await stands()));
      } finally {
        clearInterval(pressed);
        child.kill('SIGKILL');
      }
      await eventually(stands);
      expect((await daemon.get('/api/status')).body.stopped).to.equal(false);
    });

    it(`in ${program} drives the chassis with a key while the gimbal is in auto`, async function () {
      requirePrograms(this, program);
      await daemon.post('/api/gimbal/mode/switch', { mode: 'auto' });
      const { xM } = await chassis();
      await whilePressed(driveBy(program, file), ['w'], () =>
        eventually(async () => (await chassis()).xM > xM + 0.2),
      );
      await daemon.post('/api/gimbal/mode/switch', { mode: 'manual' });
    });

    it(`in ${program} aims with an arrow key whose bytes arrive one by one, and ignores F1, F4 and Ctrl with an arrow key`, async function () {
      requirePrograms(this, program);
      const { xM, headingRad } = await chassis();
      const fromRad = (await axes('gimbal')).pitch.angleRad;
      const parts = ['\x1bOS\x1b[[A\x1b[1;5A\x1b[\r\x1b', '[', 'A'];
      await whilePressed(driveBy(program, file), parts, async () => {
        await eventually(async () => (await axes('gimbal')).pitch.angleRad > fromRad + 0.2);
        const now = await chassis();
        expect(now.xM).to.be.closeTo(xM, 0.02);
        expect(now.headingRad).to.be.closeTo(headingRad, 0.02);
      });
    });

    it(`in ${program} does not take the rest of an arrow key for a letter if the client is frozen between its bytes`, async function () {
      requirePrograms(this, program);
      const { headingRad } = await chassis();
      const child = driveBy(program, file);
      try {
        const pressed = setInterval(() => child.stdin.write('w'), 50);
        await eventually(async () => !(await stands())).finally(() => clearInterval(pressed));
        child.kill('SIGSTOP');
        child.stdin.write('\x1b[');
        await delay(500);
        child.kill('SIGCONT');
        await delay(200);
        child.stdin.write('A');
        await delay(400);
        expect((await chassis()).headingRad).to.be.closeTo(headingRad, 0.02);
      } finally {
        child.kill('SIGKILL');
      }
      await eventually(stands);
    });

    it(`in ${program} ends with a message if the gamepad cannot be read`, async function () {
      requirePrograms(this, program);
      const child = spawn(program, [file, daemon.url, '/nowhere/js0'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [[code], output] = await Promise.all([once(child, 'close'), text(child.stderr)]);
      expect([code, output]).to.deep.equal([1, 'Keyboard or gamepad is gone.\n']);
    });
  }
});
