import { UNIT_LIST } from '../src/units.js';

const UNITS = UNIT_LIST.map(unit => unit.name);

/** Which targets each fault goes with. */
const TARGETS = {
  unplug: UNITS,
  plug: UNITS,
  brownout: UNITS,
  nack: [...UNITS, 'bus', 'pin'],
  timeout: [...UNITS, 'bus'],
  corrupt: [...UNITS, 'bus'],
  hang: [...UNITS, 'bus'],
  clear: [...UNITS, 'bus', 'pin'],
} as const;

export type FaultName = keyof typeof TARGETS;

/** Body of POST /sim/faults. */
export interface FaultBody {
  readonly target: string;
  readonly fault: FaultName;
  /** Transactions or pin calls affected; absent = until `clear`. */
  readonly count?: number;
}

export const FAULT_BODY = {
  type: 'object',
  properties: {
    target: { type: 'string', enum: [...UNITS, 'bus', 'pin'] },
    fault: { type: 'string', enum: Object.keys(TARGETS) },
    count: { type: 'integer', minimum: 1 },
  },
  required: ['target', 'fault'],
  additionalProperties: false,
  allOf: Object.entries(TARGETS).map(([fault, targets]) => ({
    if: { properties: { fault: { const: fault } } },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { properties: { target: { enum: targets } } },
  })),
};
