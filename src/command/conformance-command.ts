import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/settings.js';
import { type Conformance, conformance, NOT_ASKED } from '../conformance/conformance.js';
import { systemClock } from '../core/clock.js';
import type { Unit } from '../core/units.js';
import type { I2cBus } from '../hardware/ports.js';
import { failed, type Said } from './command.js';
import { progress } from './output.js';

/** Opens one bus for this process. Rejects with the bus codes; with `bus-in-use` if the daemon has it. */
export type OpenBus = (bus: number) => Promise<I2cBus & { close(): Promise<void> }>;

/** The connection to the terminal may be lost during the checks. The controller must be latched then too. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const QUESTION =
  'The motors get torque and move. Are the wheels off the floor, and is the gimbal free? Type yes: ';

/** `trunnion conformance`. Moves the unit only if `agrees` is given and resolves with true. */
export async function conformanceCommand(
  unit: Unit,
  open: OpenBus,
  { i2c }: Config,
  agrees: ((signal: AbortSignal) => Promise<boolean>) | undefined,
): Promise<Said> {
  const bus = await open(i2c.bus);
  const interrupt = new AbortController();
  const onInterrupt = () => interrupt.abort();
  for (const signal of ENDING) process.on(signal, onInterrupt);
  try {
    if (agrees !== undefined && !(await agrees(interrupt.signal)))
      return failed('Nothing was checked, and nothing has moved.');
    const moves = agrees !== undefined;
    const onCheck = (number: number, { says, about }: { says: string; about?: string }) =>
      progress(`check ${number}: ${about ?? says}`);
    const asked = { unit, bus, moves, clock: systemClock, signal: interrupt.signal, onCheck };
    const found = await conformance(asked).finally(() => progress(''));
    return reportOf(found, moves);
  } finally {
    for (const signal of ENDING) process.off(signal, onInterrupt);
    await bus.close();
  }
}

/** The simulator's program. It is beside the robot's program, in a checkout and in every package. */
const SIMULATOR_PROGRAM = fileURLToPath(new URL('../../sim/main.js', import.meta.url));

/** Runs `trunnion conformance` in the simulator's process: the robot's program has no simulated controllers. */
export async function simulatedConformance(args: readonly string[]): Promise<undefined> {
  const program = [...process.execArgv, SIMULATOR_PROGRAM, 'conformance', ...args];
  const child = spawn(process.execPath, program, { stdio: 'inherit' });
  for (const signal of ENDING) process.on(signal, () => child.kill(signal));
  const [exitCode] = await once(child, 'close');
  process.exitCode = typeof exitCode === 'number' ? exitCode : 1;
  return undefined;
}

/** Asks at the terminal. Without an answer, or if the signal aborts, returns false. */
export async function agreesToMove(signal: AbortSignal): Promise<boolean> {
  // A terminal that is gone cannot leave raw mode. One word needs no editing.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const closed = new Promise<string>(resolve => terminal.once('close', () => resolve('')));
  signal.addEventListener('abort', () => terminal.close());
  const said = await Promise.race([terminal.question(QUESTION), closed]);
  terminal.close();
  return said.trim() === 'yes';
}

export function reportOf({ refused, asked, end, ...found }: Conformance, moves: boolean): Said {
  const broken = asked.filter(({ seen }) => seen !== undefined);
  const isWhole = refused === undefined && !end.startsWith('Interrupted');
  const ok = isWhole && broken.length === 0;
  const json = { ok, ...found, refused, end, moves, asked, notAsked: NOT_ASKED };
  const text =
    refused ??
    [
      ...broken.map(
        ({ says, about, seen }) => `WRONG  ${says}\n       ${about === undefined ? '' : `${about}: `}${seen}`,
      ),
      `${asked.length - broken.length} of ${asked.length} checks passed.`,
      `Not checked, because the bus cannot show it:${Object.entries(NOT_ASKED)
        .map(([says, how]) => `\n  ${says} (${how})`)
        .join('')}`,
      ...(moves ? [] : ['Not checked without --move: what needs torque.']),
    ].join('\n');
  return { text: `${text}\n${end}`, exitCode: ok ? 0 : 1, json, isReport: refused === undefined };
}
