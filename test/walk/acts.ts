import type { UnitName } from '../../src/core/units.js';
import { bodyMember, isPost } from './asked.js';
import type { Request } from './request.js';

export function isBeat(asked: Request): boolean {
  return isPost(asked, '/api/match/lease');
}

export function isCall(asked: Request): boolean {
  return isPost(asked, '/api/match');
}

export function isLock(asked: Request): boolean {
  return isPost(asked, '/api/match/lock');
}

export function isLockChange(asked: Request): boolean {
  return isLock(asked) || isPost(asked, '/api/match/unlock');
}

export function isChange(asked: Request): boolean {
  return isCall(asked) || isLockChange(asked);
}

export function isOn(asked: Request): boolean {
  return isPost(asked, '/api/laser') && bodyMember(asked, 'action') === 'on';
}

export function isOff(asked: Request): boolean {
  return isPost(asked, '/api/laser') && bodyMember(asked, 'action') === 'off';
}

export function isTuneStart(asked: Request): boolean {
  return isAutotune(asked) && bodyMember(asked, 'id') === undefined;
}

export function isTuneRenewal(asked: Request): boolean {
  return isAutotune(asked) && bodyMember(asked, 'id') !== undefined;
}

function isAutotune(asked: Request): boolean {
  const { path } = asked;
  return path.endsWith('/autotune') && isPost(asked, path);
}

/** True if a 200 means that the gains of this unit were saved. */
export function isSave(asked: Request, unit: UnitName): boolean {
  const path = `/api/${unit}/pidconfig`;
  return isPost(asked, path) || isPost(asked, `${path}/restore`);
}

/** True if the request stops the whole robot. */
export function isStop(asked: Request): boolean {
  return isPost(asked, '/api/stop') || isLock(asked);
}

/** True if the request moves something, or allows it to move. */
export function isDrive(asked: Request): boolean {
  const { path } = asked;
  return (
    isOn(asked) ||
    isPost(asked, '/api/resume') ||
    isPost(asked, '/api/drive') ||
    isTuneStart(asked) ||
    (/mode\/switch|excitation/.test(path) && isPost(asked, path))
  );
}

export function isDebug(asked: Request): boolean {
  return bodyMember(asked, 'mode') === 'debug' || asked.path.endsWith('/excitation') || isTuneStart(asked);
}

export function isTune(asked: Request): boolean {
  const { path } = asked;
  return /pidconfig/.test(path) && isPost(asked, path);
}
