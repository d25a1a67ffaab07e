import { UNIT_LIST } from '../../src/core/units.js';
import { frameBytes, REGISTERS, type Register, telemetryRegister } from '../../src/protocol/registers.js';

/** Every byte on the wire takes eight bits and an acknowledge. */
const BITS_PER_BYTE = 9;

/** Start, address, register, data, stop. A read has a second start and the address again. */
function bitsOnTheWire(direction: 'read' | 'write', dataBytes: number): number {
  const [bytes, conditions] = direction === 'read' ? [3, 3] : [2, 2];
  return (bytes + dataBytes) * BITS_PER_BYTE + conditions;
}

/** The transactions of a poll, with the bits that each takes. */
export const POLL = UNIT_LIST.flatMap(unit => {
  const transaction = (register: Register, direction: 'read' | 'write') => ({
    unit: unit.name,
    register: register.name,
    direction,
    bits: bitsOnTheWire(direction, frameBytes(register)),
  });
  return [
    transaction(REGISTERS.heartbeat, 'write'),
    transaction(REGISTERS.status, 'read'),
    transaction(telemetryRegister(unit), 'read'),
  ];
});

export const POLL_BITS = POLL.reduce((sum, { bits }) => sum + bits, 0);

/** The share of the bus that polling all units takes, from 0 to 1, without clock stretching and gaps. */
export function busLoad(pollHz: number, busHz: number): number {
  return (POLL_BITS * pollHz) / busHz;
}
