import { MODES, perUnit } from '../core/units.js';
import { loopGains } from './gains.js';
import { matchStatus } from './match.js';
import {
  array,
  count,
  growing,
  named,
  nullable,
  number,
  oneOf,
  record,
  type TypeOf,
  text,
  yesNo,
} from './schema.js';

/** The part of status about access: whether the robot asks for tokens, and what is wrong with their file. */
export const accessStatus = named(
  'AccessStatus',
  growing(
    {
      state: oneOf(
        ['open', 'closed', 'unavailable'],
        '`open`: everyone may do everything. `closed`: a token says who may do what. `unavailable`: the tokens cannot ' +
          'be read, and nobody may act.',
      ),
      exposed: yesNo('Open, and reachable from other machines.'),
    },
    { detail: text('What is wrong, and the cure.') },
  ),
);

export type AccessStatus = TypeOf<typeof accessStatus>;

const complaint = named(
  'Complaint',
  growing({ code: text('One of the codes of problems.'), detail: text('A sentence with the cure.') }),
);

export type Complaint = TypeOf<typeof complaint>;

const laserStatus = named(
  'LaserStatus',
  growing(
    {
      state: nullable(
        oneOf(['on', 'off']),
        'As the pin says; null while it cannot be read or there is none.',
      ),
      light: oneOf(
        ['on', 'dark', 'unknown', 'fault'],
        '`on` and `dark` are proven by the pin. `fault`: the pin does not obey, and the laser may be lit. `unknown`: there ' +
          'is no pin.',
      ),
    },
    { reason: text('Why the laser is dark although it was last switched on.'), problem: complaint },
  ),
);

export type LaserStatus = TypeOf<typeof laserStatus>;

const torque = oneOf(
  ['on', 'off', 'silent', 'unknown'],
  '`on` and `off` are what the controller says. `silent`: the controller cannot be reached, and has received no heartbeat ' +
    'for so long that it has cut its own torque. `unknown`: nothing is proven, so the motors may push.',
);

export type Torque = TypeOf<typeof torque>;

export const trialStatus = named(
  'Trial',
  growing({
    id: text(),
    by: text("The owner: a token's name or an address."),
    endsAtT: number('Monotonic seconds, as `t` of telemetry.'),
    gains: record(loopGains, 'By the name of the loop.'),
  }),
);

export type TrialStatus = TypeOf<typeof trialStatus>;

const excitation = named(
  'Excitation',
  growing({
    loop: text('Name of the loop.'),
    amplitude: number("In the loop's unit; 0 moves nothing."),
    periodS: number(),
  }),
);

const unitStatus = named(
  'UnitStatus',
  growing(
    {
      mode: nullable(oneOf(MODES), 'Null until the controller has answered once.'),
      online: yesNo(),
      faults: array(text()),
      flags: array(text()),
      torque,
      excitation: nullable(
        excitation,
        'The excitation that the controller runs; null outside debug mode and while it is not known.',
      ),
      gains: growing(
        {
          revision: count('0 before the first save.'),
          savedAt: nullable(text('ISO 8601.')),
          applied: yesNo('The controller runs the saved gains.'),
        },
        { trial: trialStatus },
      ),
    },
    {
      firmware: text(),
      protocol: count(),
      guardsTrials: yesNo(
        'The firmware ends the excitation of a trial by itself when its loop runs away (flag `guarded_excitation`). ' +
          'If false, only the daemon does that, at its polls.',
      ),
      problem: { ...complaint, description: 'Why it is offline.' },
    },
  ),
);

export type UnitStatus = TypeOf<typeof unitStatus>;

const storageStatus = named(
  'StorageStatus',
  growing(
    { ok: yesNo(), setAside: array(text(), 'Copies of damaged files in the state folder.') },
    { detail: text(), cure: text() },
  ),
);

export type StorageStatus = TypeOf<typeof storageStatus>;

const busStatus = named(
  'BusStatus',
  growing({ transactions: count(), retries: count(), errors: record(count(), 'By code.') }),
);

const logStatus = named(
  'LogStatus',
  growing({ ok: yesNo('The log of events reaches the disk.') }, { detail: text(), cure: text() }),
);

/** The body of GET /api/status and of event `status`. */
export const status = named(
  'Status',
  growing({
    version: text(),
    simulated: yesNo(),
    uptimeS: number(),
    stopped: yesNo(),
    laser: laserStatus,
    ...perUnit(() => unitStatus),
    bus: busStatus,
    storage: storageStatus,
    streams: count('Event streams that are open.'),
    access: accessStatus,
    match: matchStatus,
    log: logStatus,
  }),
);

export type Status = TypeOf<typeof status>;
