import { PHASES } from '../core/phases.js';
import { MODES, perUnit } from '../core/units.js';
import { compile } from '../http/validate.js';
import type { LogHead } from '../schemas/log.js';
import * as s from '../schemas/schema.js';

const unit = s.growing({
  mode: s.nullable(s.oneOf(MODES)),
  online: s.yesNo(),
  faults: s.array(s.text()),
  torque: s.oneOf(['on', 'off', 'silent', 'unknown']),
  gains: s.growing({ applied: s.yesNo(), trial: s.optional(s.growing({})) }),
  problem: s.optional(s.growing({ detail: s.text() })),
});
const members = {
  id: s.nullable(s.text()),
  revision: s.count(),
  phase: s.oneOf(PHASES),
  endsAtT: s.nullable(s.number()),
  // Locks of 0.3.0 have no id.
  lock: s.nullable(s.growing({ id: s.optional(s.text()), by: s.text(), reason: s.text() })),
  lease: s.nullable(s.growing({ holder: s.text(), by: s.text(), expired: s.optional(s.yesNo()) })),
  recorded: s.yesNo(),
  // A status has no ages.
  beatAgeS: s.optional(s.nullable(s.number())),
};
const match = s.growing(members);
const complaint = { ok: s.yesNo(), detail: s.optional(s.text()), cure: s.optional(s.text()) };
/** The members of a robot's status that the desk reads. Robots of 0.3.0 have all of them but `id`. */
const status = s.growing({
  id: s.optional(s.nullable(s.text())),
  version: s.text(),
  uptimeS: s.number(),
  stopped: s.yesNo(),
  laser: s.growing({ light: s.oneOf(['on', 'dark', 'unknown', 'fault']) }),
  ...perUnit(() => unit),
  access: s.growing({ state: s.oneOf(['open', 'closed', 'unavailable']) }),
  storage: s.growing(complaint),
  log: s.growing(complaint),
  match,
});

/** The desk asks for the lines after this hash, so that the hash becomes a part of a path. */
const head: s.Schema<LogHead> = s.growing({
  seq: s.count(),
  hash: { ...s.text('64 hexadecimal digits'), pattern: '^[0-9a-f]{64}$' },
});

export type RobotMatch = s.TypeOf<typeof match>;
export type RobotStatus = s.TypeOf<typeof status>;

/** The checks of what robots answer. Each returns the answer with its type, or throws. */
export const read = {
  status: compile(status),
  match: compile(s.growing({ ...members, t: s.number(), head: s.optional(head) })),
  health: compile(s.growing({ status: s.text(), id: s.optional(s.nullable(s.text())) })),
  problem: compile(s.growing({ code: s.text(), detail: s.text() })),
};
