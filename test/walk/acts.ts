import { type Asked, bodyMember, isPost } from './asked.js';
import { isTuneStart } from './tune-model.js';

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

export function isDrive(asked: Asked): boolean {
  const { path } = asked.request;
  if (isPost(asked, '/api/laser')) return bodyMember(asked, 'action') === 'on';
  return (
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
