import { isObject } from '../core/json.js';
import { MODES, perUnit } from '../core/units.js';
import { loopGains } from './gains.js';
import { matchStatus } from './match.js';
import * as s from './schema.js';

const complaint = s.answer('Complaint', {
  code: s.text('One of the codes of problems.'),
  detail: s.text('A sentence with the cure.'),
});

export type Complaint = s.TypeOf<typeof complaint>;

const laserStatus = s.answer('LaserStatus', {
  state: s.nullable(
    s.oneOf(['on', 'off']),
    'What the pin shows; null if there is no pin or it cannot be read.',
  ),
  light: s.oneOf(
    ['on', 'dark', 'unknown', 'fault'],
    '`on` and `dark` are proven by the pin. `fault`: the pin does not obey, and the laser may be lit. `unknown`: there ' +
      'is no pin.',
  ),
  reason: s.optional(s.text('Why the laser is dark although it was last switched on.')),
  problem: s.optional(complaint),
});

export type LaserStatus = s.TypeOf<typeof laserStatus>;

const torque = s.oneOf(
  ['on', 'off', 'silent', 'unknown'],
  '`on` and `off` are what the controller says. `silent`: the controller cannot be reached, and has received no heartbeat ' +
    'for so long that it has cut its own torque. `unknown`: nothing is proven, so the motors may push.',
);

export type Torque = s.TypeOf<typeof torque>;

export const trialStatus = s.answer('Trial', {
  id: s.text(),
  by: s.text("The owner: a token's name or an address."),
  endsAtT: s.number('Monotonic seconds, as `t` of telemetry.'),
  gains: s.record(loopGains, 'By the name of the loop.'),
});

export type TrialStatus = s.TypeOf<typeof trialStatus>;

const excitation = s.answer('Excitation', {
  loop: s.text('Name of the loop.'),
  amplitude: s.number("In the loop's unit; 0 moves nothing."),
  periodS: s.number(),
});

const build = s.answer('Build', {
  imageCrc: s.text('CRC-32 of the firmware image, 8 hexadecimal digits.'),
  resetCause: s.text('Why the controller started: `power`, `reset_pin`, `watchdog` or `other`.'),
  longestLoopUs: s.count('Longest work of one loop period since the start of the firmware.'),
});

export type Build = s.TypeOf<typeof build>;

const unitStatus = s.answer('UnitStatus', {
  mode: s.nullable(s.oneOf(MODES), 'Null until the controller has answered once.'),
  online: s.yesNo(),
  faults: s.array(s.text()),
  flags: s.array(s.text()),
  torque,
  excitation: s.nullable(
    excitation,
    'The excitation that the controller runs; null outside debug mode and while it is not known.',
  ),
  gains: s.growing({
    revision: s.count('0 before the first save.'),
    savedAt: s.nullable(s.text('ISO 8601.')),
    profile: s.optional(s.text('The profile that was loaded, if these are its gains.')),
    applied: s.yesNo('The controller runs the saved gains.'),
    trial: s.optional(trialStatus),
  }),
  firmware: s.optional(s.text()),
  protocol: s.optional(s.count()),
  build: s.optional({ ...build, description: 'Only from firmware with the flag `build`. Read every 10 s.' }),
  guardsTrials: s.optional(
    s.yesNo(
      'The firmware ends the excitation of a trial by itself when its loop runs away (flag `guarded_excitation`). ' +
        'If false, only the daemon does that, at its polls.',
    ),
  ),
  drivable: s.optional(s.yesNo('The firmware moves at the rates of POST /api/drive (flag `motion`).')),
  driver: s.optional(
    s.answer('Driver', {
      by: s.text("A token's name or an address."),
      id: s.text(),
      sinceT: s.number('Monotonic seconds, as `t` of telemetry.'),
    }),
  ),
  problem: s.optional({ ...complaint, description: 'Why the unit is offline.' }),
});

export type UnitStatus = s.TypeOf<typeof unitStatus>;

const storageStatus = s.answer('StorageStatus', {
  ok: s.yesNo(),
  setAside: s.array(s.text(), 'Copies of damaged files in the state folder.'),
  detail: s.optional(s.text()),
  cure: s.optional(s.text()),
});

export type StorageStatus = s.TypeOf<typeof storageStatus>;

export const robotId = s.nullable(
  s.text('16 hexadecimal digits.'),
  "The robot's own id, made once and kept in the state folder. Null while that cannot be read.",
);

/** The body of GET /api/status and of event `status`. */
export const status = s.answer('Status', {
  id: robotId,
  version: s.text(),
  simulated: s.yesNo(),
  uptimeS: s.number(),
  stopped: s.yesNo(),
  laser: laserStatus,
  ...perUnit(() => unitStatus),
  bus: s.answer('BusStatus', {
    transactions: s.count(),
    retries: s.count(),
    errors: s.record(s.count(), 'By code.'),
  }),
  storage: storageStatus,
  streams: s.count('Event streams that are open.'),
  access: s.answer('AccessStatus', {
    state: s.oneOf(
      ['open', 'closed', 'unavailable'],
      '`open`: everyone may do everything. `closed`: a token says who may do what. `unavailable`: the tokens cannot ' +
        'be read, and nobody may act.',
    ),
    exposed: s.yesNo('Open, and reachable from other machines.'),
    detail: s.optional(s.text('What is wrong, and the cure.')),
  }),
  match: matchStatus,
  log: s.answer('LogStatus', {
    ok: s.yesNo('The log of events reaches the disk.'),
    detail: s.optional(s.text()),
    cure: s.optional(s.text()),
  }),
});

export type Status = s.TypeOf<typeof status>;

/** Whether the answer has all members of a status. A status of an older daemon does not. */
export function isStatus(answer: unknown): answer is Status {
  const { required } = status;
  return isObject(answer) && Array.isArray(required) && required.every(name => String(name) in answer);
}
