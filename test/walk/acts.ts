import type { UnitName } from '../../src/core/units.js';
import { type Asked, bodyMember, isPost } from './asked.js';

export function isBeat(asked: Asked): boolean {
  return isPost(asked, '/api/match/lease');
}

export function isCall(asked: Asked): boolean {
  return isPost(asked, '/api/match');
}

export function isLock(asked: Asked): boolean {
  return isPost(asked, '/api/match/lock');
}

export function isLockChange(asked: Asked): boolean {
  return isLock(asked) || isPost(asked, '/api/match/unlock');
}

export function isChange(asked: Asked): boolean {
  return isCall(asked) || isLockChange(asked);
}

export function isOn(asked: Asked): boolean {
  return isPost(asked, '/api/laser') && bodyMember(asked, 'action') === 'on';
}

export function isOff(asked: Asked): boolean {
  return isPost(asked, '/api/laser') && bodyMember(asked, 'action') === 'off';
}

export function isTuneStart(asked: Asked): boolean {
  return isAutotune(asked) && bodyMember(asked, 'id') === undefined;
}

export function isTuneRenewal(asked: Asked): boolean {
  return isAutotune(asked) && bodyMember(asked, 'id') !== undefined;
}

function isAutotune(asked: Asked): boolean {
  const { path } = asked.request;
  return path.endsWith('/autotune') && isPost(asked, path);
}

/** True if a 200 means that the gains of this unit were saved. */
export function isSave(asked: Asked, unit: UnitName): boolean {
  const path = `/api/${unit}/pidconfig`;
  return isPost(asked, path) || isPost(asked, `${path}/restore`);
}

/** True if the request stops the whole robot. */
export function isStop(asked: Asked): boolean {
  return isPost(asked, '/api/stop') || isLock(asked);
}

/** True if the request moves something, or allows it to move. */
export function isDrive(asked: Asked): boolean {
  const { path } = asked.request;
  return (
    isOn(asked) ||
    isPost(asked, '/api/resume') ||
    isPost(asked, '/api/drive') ||
    isTuneStart(asked) ||
    (/mode\/switch|excitation/.test(path) && isPost(asked, path))
  );
}

export function isDebug(asked: Asked): boolean {
  return (
    bodyMember(asked, 'mode') === 'debug' || asked.request.path.endsWith('/excitation') || isTuneStart(asked)
  );
}

export function isTune(asked: Asked): boolean {
  const { path } = asked.request;
  return /pidconfig/.test(path) && isPost(asked, path);
}
