import { PHASES, type Phase } from '../../src/core/phases.js';
import { type Asked, bodyMember } from './asked.js';

/** The daemon acts at most this long after a time limit. */
export const GRACE_MS = 50;

/** A phase, and the interval in which its time runs out; infinite without a time limit. */
export interface Standing {
  readonly phase: Phase;
  readonly fromMs: number;
  readonly toMs: number;
}

export const NO_MATCH: Standing = {
  phase: 'none',
  fromMs: Number.POSITIVE_INFINITY,
  toMs: Number.POSITIVE_INFINITY,
};

export function isPlay(phase: unknown): boolean {
  return phase === 'auto' || phase === 'teleop';
}

export function standingOf(asked: Asked, answeredMs: number): Standing {
  const phase = PHASES.find(one => one === bodyMember(asked, 'phase')) ?? 'none';
  const remainingS = bodyMember(asked, 'remainingS');
  if (typeof remainingS !== 'number' || phase === 'none' || phase === 'ended') return { ...NO_MATCH, phase };
  return {
    phase,
    fromMs: asked.earliestMs + remainingS * 1000,
    toMs: answeredMs + remainingS * 1000 + GRACE_MS,
  };
}

/** The phases that the match may have now. */
export function possible({ phase, fromMs, toMs }: Standing, nowMs: number): readonly Phase[] {
  if (nowMs < fromMs) return [phase];
  return nowMs > toMs ? ['ended'] : [phase, 'ended'];
}

/** After a power cut the duration of the outage is unknown, so a running match pauses. */
export function afterCut({ phase, fromMs }: Standing, nowMs: number): readonly Standing[] {
  const later: Phase = phase === 'none' || phase === 'ended' ? phase : 'pause';
  // The record on the disk may or may not say that time ran out. Neither is promised.
  const phases: readonly Phase[] = nowMs < fromMs ? [later] : [later, 'ended'];
  return phases.map(one => ({ ...NO_MATCH, phase: one }));
}
