import type { Proposal, ProposalTask } from '../../src/tuning/propose.js';

/** One of this many proposals fails, as the real computing thread may. */
const FAILS_EVERY = 9;

/** Proposes gains at once, because the real computation takes a second. Every proposal has different gains. */
export function quickProposals(): (task: ProposalTask) => Promise<Proposal> {
  let count = 0;
  return async () => {
    count += 1;
    if (count % FAILS_EVERY === 0) throw new Error('nothing could be computed');
    const curve = { periodS: 0.01, setpoint: 1, measured: [0, 1] };
    const predicted = { settlingS: 0.1, overshootPercent: 0, fitPercent: 0.5, curve };
    return { gains: { kp: 10_000 + count, ki: 0, kd: 0 }, predicted, cost: 0.1, costNow: 1 };
  };
}
