import type { Schema } from '../../src/core/schema.js';
import { UNIT_LIST, type UnitName } from '../../src/core/units.js';

const UNITS = UNIT_LIST.map(unit => unit.name);

const OF_BUS = ['nack', 'timeout', 'corrupt', 'hang'] as const;
const OF_UNIT = ['unplug', 'plug', 'brownout', ...OF_BUS, 'clear'] as const;

/** The faults that transactions can have. */
export type BusFault = (typeof OF_BUS)[number];
type FaultName = (typeof OF_UNIT)[number];
type FaultTarget = UnitName | 'bus' | 'pin';

/** Body of POST /sim/faults. */
export interface FaultBody {
  readonly target: FaultTarget;
  readonly fault: FaultName;
  /** Transactions or pin calls affected; absent = until `clear`. */
  readonly count?: number;
}

/** Which fault goes with which target: one that does not is reported once, at `/fault`. */
const PAIRS: readonly { readonly targets: readonly string[]; readonly faults: readonly string[] }[] = [
  { targets: UNITS, faults: OF_UNIT },
  { targets: ['bus'], faults: [...OF_BUS, 'clear'] },
  { targets: ['pin'], faults: ['nack', 'clear'] },
];
const TARGETS = PAIRS.flatMap(({ targets }) => targets);

const among = (targets: readonly string[]) => ({
  properties: { target: { enum: targets } },
  required: ['target'],
});

/** JSON Schema of the body, with the pairs. */
export const FAULT_BODY: Schema<FaultBody> = {
  type: 'object',
  properties: {
    target: { type: 'string', enum: TARGETS },
    fault: { type: 'string' },
    count: { type: 'integer', minimum: 1 },
  },
  required: ['target', 'fault'],
  additionalProperties: false,
  allOf: [
    ...PAIRS.map(({ targets, faults }) => ({
      if: among(targets),
      // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
      then: { properties: { fault: { enum: faults } } },
    })),
    { if: among(TARGETS), else: { properties: { fault: { enum: OF_UNIT } } } },
  ],
};
