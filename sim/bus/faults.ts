import { UNIT_LIST, type UnitName } from '../../src/core/units.js';
import * as s from '../../src/schemas/schema.js';

const UNITS = UNIT_LIST.map(unit => unit.name);

const OF_BUS = ['nack', 'timeout', 'corrupt', 'hang'] as const;
const OF_UNIT = ['unplug', 'plug', 'brownout', ...OF_BUS, 'clear'] as const;

/** The faults that transactions can have. */
export type BusFault = (typeof OF_BUS)[number];
type FaultTarget = UnitName | 'bus' | 'pin';

/** The valid pairs of target and fault. A request with another pair gets one error, at `/fault`. */
const PAIRS: readonly { readonly targets: readonly FaultTarget[]; readonly faults: readonly string[] }[] = [
  { targets: UNITS, faults: OF_UNIT },
  { targets: ['bus'], faults: [...OF_BUS, 'clear'] },
  { targets: ['pin'], faults: ['nack', 'clear'] },
];
const TARGETS = PAIRS.flatMap(({ targets }) => targets);

const among = (targets: readonly string[]) => ({
  properties: { target: { enum: targets } },
  required: ['target'],
});

const fault: s.Schema<(typeof OF_UNIT)[number]> = { type: 'string' };

/**
 * Body of POST /sim/faults, with the valid pairs. `count` is the number of affected transactions or pin calls.
 * Without it, the fault lasts until `clear`.
 */
export const FAULT_BODY = {
  ...s.object({ target: s.oneOf(TARGETS), fault, count: s.optional({ ...s.count(), minimum: 1 }) }),
  allOf: [
    ...PAIRS.map(({ targets, faults }) => ({
      if: among(targets),
      // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
      then: { properties: { fault: { enum: faults } } },
    })),
    { if: among(TARGETS), else: { properties: { fault: { enum: OF_UNIT } } } },
  ],
};
export type FaultBody = s.TypeOf<typeof FAULT_BODY>;
