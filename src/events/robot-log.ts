import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import type { GainsStore } from '../gains/gains-store.js';
import type { Robot } from '../robot/robot.js';
import type { RobotEvent } from '../robot/robot-event.js';
import { Incidents } from './incidents.js';

/** Writes what changed on the robot and on its disk into the log. Returns the act that ends it. */
export function logRobotEvents(robot: Robot, log: Logger, clock: Clock): () => void {
  const incidents = new Incidents({ log, clock });
  const ends = [robot.events.add(event => write(event, log, incidents)), logStorage(robot.store, log)];
  return () => {
    for (const end of ends) end();
    incidents.close();
  };
}

function write(event: RobotEvent, log: Logger, incidents: Incidents): void {
  switch (event.what) {
    case 'mode':
    case 'gains':
      log.info({ unit: event.unit, before: event.before, after: event.after }, event.what);
      return;
    case 'excitation':
      log.info({ unit: event.unit, after: event.after }, 'excitation');
      return;
    case 'trial':
      log.info({ unit: event.unit, by: event.by, ended: event.ended }, 'trial');
      return;
    case 'trial changed':
      log.info({ unit: event.unit, by: event.by, loops: event.loops }, 'trial changed');
      return;
    case 'faults':
      log.warn({ unit: event.unit, appeared: event.appeared, gone: event.gone }, 'controller faults');
      return;
    case 'stopped':
      log.info({ before: !event.after, after: event.after, why: event.why }, 'stopped');
      return;
    case 'laser':
      log.info({ before: event.before, after: event.after, reason: event.reason }, 'laser');
      return;
    case 'laser fault':
      incidents.record('laser', laserIncident(event), event.error);
      return;
    case 'online':
    case 'gains applied':
      log.info({ unit: event.unit }, `controller ${event.what}`);
      return;
    case 'reset':
      incidents.record(event.unit, 'controller reset');
      return;
    case 'offline':
    case 'not found':
    case 'poll failed':
      incidents.record(event.unit, `controller ${event.what}`, event.error);
      return;
  }
}

function logStorage(store: GainsStore, log: Logger): () => void {
  let works = true;
  const look = () => {
    const { ok, detail, cure } = store.report();
    if (ok === works) return;
    works = ok;
    if (ok) log.info('storage works again');
    else log.error({ detail, cure }, 'storage failed');
  };
  look();
  return store.changed.add(look);
}

function laserIncident({ error, mayBeLit }: RobotEvent & { what: 'laser fault' }): string {
  if (error === undefined) return 'the laser works again';
  return mayBeLit ? 'the laser pin does not obey' : 'the laser cannot be used';
}
