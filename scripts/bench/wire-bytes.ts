import { UNIT_LIST } from '../../src/core/units.js';
import {
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  registerMap,
  telemetryRegister,
} from '../../src/protocol/registers.js';
import { openStream } from './connection.js';
import type { Figure } from './figure.js';
import { gainsBody } from './gains-body.js';
import { delay } from './load.js';
import type { Transaction } from './memory-hardware.js';
import type { Bench } from './plan.js';
import { Server } from './server.js';
import { bitsOnTheWire } from './wire-time.js';

type Needed = readonly (readonly [direction: 'read' | 'write', register: Register])[];

const [gimbal] = UNIT_LIST;
/** Frames by which a poll is known. */
const POLLED_ONLY = [REGISTERS.heartbeat, ...UNIT_LIST.map(unit => telemetryRegister(unit))].map(
  ({ address }) => address,
);

const TRIES = 200;
/** Some polls later a controller's answers to the last act are no longer in doubt. */
const SETTLED_MS = 100;

/** What the protocol asks for, with one look at whether it took effect. */
const POLL: Needed = UNIT_LIST.flatMap(
  unit =>
    [
      ['write', REGISTERS.heartbeat],
      ['read', REGISTERS.status],
      ['read', telemetryRegister(unit)],
    ] as const,
);
const MODE_SWITCH: Needed = [
  ['write', REGISTERS.mode],
  ['read', REGISTERS.status],
];
const SAVE: Needed = [
  ...(gimbal?.loops ?? []).flatMap(({ slot }) => [
    ['write', gainsRegister(slot)] as const,
    ['read', gainsRegister(slot)] as const,
  ]),
  ['write', REGISTERS.commit],
  ['read', REGISTERS.status],
];

/** Bytes on the wire (nine bits each, addresses with them) of a poll of both units, a mode switch and a save. */
export async function wireBytes({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const server = await Server.start(programs.daemon, folder);
  const taken = async () => transactionsOf(await server.ask('GET', '/bench/wire'));
  try {
    // Without somebody who follows them, readings are left out of most polls.
    const page = await openStream(server.port);
    await taken();
    await delay(Math.max(plan.rateMs, 1000));
    const polled = await taken();
    page.destroy();
    const beats = polled.filter(({ register }) => register === REGISTERS.heartbeat.address).length;
    const polls = beats / UNIT_LIST.length;
    let turn = 0;
    /** Between two polls, so that only the act's own frames are there, and not in the wake of another act. */
    const alone = async (act: () => Promise<unknown>): Promise<Transaction[]> => {
      for (let tries = 0; tries < TRIES; tries += 1) {
        await delay(SETTLED_MS);
        await taken();
        await act();
        const its = await taken();
        if (!its.some(({ register }) => POLLED_ONLY.includes(register))) return its;
      }
      throw new Error(`each of ${TRIES} acts met a poll`);
    };
    const switched = await alone(() => {
      turn += 1;
      return server.ask('POST', '/api/gimbal/mode/switch', { mode: turn % 2 === 0 ? 'manual' : 'auto' });
    });
    const saved = await alone(() => {
      turn += 1;
      return server.ask('POST', '/api/gimbal/pidconfig', gainsBody('gimbal', turn));
    });
    return [
      figure('poll of both units', POLL, polled, polls),
      figure('mode switch', MODE_SWITCH, switched, 1),
      figure('save of four loops', SAVE, saved, 1),
    ];
  } finally {
    await server.stop();
  }
}

function figure(name: string, needed: Needed, seen: readonly Transaction[], times: number): Figure {
  const needs = needed.map(([direction, register]) => bytesOf(direction, frameBytes(register)));
  const sent = seen.map(({ direction, dataBytes }) => bytesOf(direction, dataBytes));
  return {
    name: `${name} on the wire`,
    unit: 'bytes',
    values: [sum(sent) / times],
    yardstick: { name: `${needed.length} frames of the protocol`, values: [sum(needs)] },
    wanted: '1',
    note: `${(seen.length / times).toFixed(1)} transactions: ${frameNames(seen, times)}`,
  };
}

function frameNames(seen: readonly Transaction[], times: number): string {
  const registers = new Map(UNIT_LIST.flatMap(unit => registerMap(unit)).map(one => [one.address, one.name]));
  const counts = new Map<string, number>();
  for (const { direction, register } of seen) {
    const name = `${direction} ${registers.get(register) ?? register}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name} ${(count / times).toFixed(2)}`).join(', ');
}

function bytesOf(direction: 'read' | 'write', dataBytes: number): number {
  return Math.floor(bitsOnTheWire(direction, dataBytes) / 9);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}

function transactionsOf(answer: unknown): Transaction[] {
  if (!Array.isArray(answer)) throw new TypeError('no list of transactions');
  return answer.map(({ address, register, direction, dataBytes }) => ({
    address: Number(address),
    register: Number(register),
    direction: direction === 'read' ? 'read' : 'write',
    dataBytes: Number(dataBytes),
  }));
}
