import type { Loop, Unit } from '../core/units.js';
import { capturePageRegister, REGISTERS } from '../protocol/registers.js';
import { type Check, check } from './checks.js';
import { Differs, type Host, same } from './host.js';

const { capture, excitation, guarded_excitation } = REGISTERS;
const PERIOD_S = 0.5;

const hasTorque = async (host: Host) => (await host.status()).flags.includes('torque');

/** Gives torque in manual. Heartbeats keep it on. */
async function release(host: Host): Promise<void> {
  host.isBeating = true;
  await host.latch(0);
}

/** A loop that holds an angle, so that the unit stays in place. */
function held({ loops }: Unit): Loop {
  const loop = loops.find(({ name }) => name.startsWith('angle'));
  if (loop === undefined) throw new TypeError('no angle loop');
  return loop;
}

function waveOf(host: Host) {
  const { slot, maxAmplitude } = held(host.unit);
  return { slot, amplitude: Math.fround(maxAmplitude / 10), period_s: PERIOD_S };
}

async function swing(host: Host): Promise<void> {
  await release(host);
  await host.enter('debug');
  await host.excite(waveOf(host));
}

/** Waits for a capture of the wave. */
async function captured(host: Host) {
  const { number } = await host.read(capture);
  await swing(host);
  await host.wait(2000 * PERIOD_S);
  await host.write(REGISTERS.capture_select, { page: 0 });
  const header = await host.read(capture);
  if (header.number === number) throw new Differs(`number is still ${number}`);
  return header;
}

/** Sets a guard that the first edge of the excitation exceeds. */
async function runsAway(host: Host): Promise<void> {
  if (!(await host.status()).flags.includes('guarded_excitation')) return;
  await release(host);
  await host.enter('debug');
  await host.write(guarded_excitation, {
    ...waveOf(host),
    deviation: Math.fround(waveOf(host).amplitude / 2),
  });
  await host.effect();
  const { faults, flags, mode } = await host.status();
  same('ran_away', faults.includes('ran_away'), true);
  same('amplitude', (await host.read(excitation)).amplitude, 0);
  same('mode and torque', [mode, flags.includes('torque')], ['debug', true]);
}

const RAN_AWAY =
  'The fault `ran_away` is shown until an excitation frame of either register is accepted or the mode changes.';

/** In these checks motors have torque, with the gains that the controller had before. */
export const MOVING_CHECKS: readonly Check[] = [
  check(
    'It is set if, and only if, all of these hold:',
    'released, with gains and heartbeats',
    async host => {
      await release(host);
      same('torque', await hasTorque(host), true);
    },
  ),
  check('Write `stopped`: torque off at once, latched.', 'in manual', async host => {
    await release(host);
    await host.latch(1);
    same('torque', await hasTorque(host), false);
  }),
  check('Silence never latches.', 'in manual', async host => {
    await release(host);
    host.isBeating = false;
    await host.heartbeat(20);
    await host.wait(60);
    same('torque in silence', await hasTorque(host), false);
    await host.heartbeat(300);
    await host.effect();
    same('torque after a heartbeat', await hasTorque(host), true);
  }),
  check(
    'At each edge that moves the setpoint, the controller records setpoint and measured value of the excited loop.',
    'slot',
    async host => same('slot', (await captured(host)).slot, held(host.unit).slot),
  ),
  check(
    "`decimation` is the smallest number with which 256 samples reach to the next edge: half the wave's period in loop periods, divided by 256, rounded up.",
    'decimation',
    async host => {
      const { rate_hz, decimation } = await captured(host);
      same('decimation', decimation, Math.ceil(Math.round((PERIOD_S / 2) * rate_hz) / 256));
    },
  ),
  check(
    'the period of the edge, one after sample 0, is the first with the new setpoint.',
    'a step of two amplitudes',
    async host => {
      const { slot, amplitude } = waveOf(host);
      const { decimation } = await captured(host);
      const page = await host.read(capturePageRegister(10_000));
      same('slot', (await host.read(capture)).slot, slot);
      const step = Math.abs((page.setpoint_1 ?? 0) - (page.setpoint_0 ?? 0));
      const isStep = Math.abs(step - 2 * amplitude) < 0.001 || Math.abs(step - amplitude) < 0.001;
      same(`a step of the setpoint between samples 0 and 1, ${decimation} periods apart`, isStep, true);
    },
  ),
  check('A capture is kept for 1 s after each selection.', 'number', async host => {
    const { number } = await captured(host);
    await host.wait(700);
    same('number after 700 ms', (await host.read(capture)).number, number);
  }),
  check(
    'If the deviation is exceeded, the controller sets the amplitude to 0.',
    'guarded_excitation',
    runsAway,
  ),
  check(RAN_AWAY, 'an excitation', async host => {
    await runsAway(host);
    await host.excite({ ...waveOf(host), amplitude: 0 });
    await host.effect();
    same('ran_away', (await host.status()).faults.includes('ran_away'), false);
  }),
  check(RAN_AWAY, 'a mode', async host => {
    await runsAway(host);
    await host.enter('manual');
    same('ran_away', (await host.status()).faults.includes('ran_away'), false);
  }),
];
