import type { Proposal, ProposalTask } from '../../src/tuning/propose.js';

/** One of this many proposals fails, as the real computing thread may. */
const FAILS_EVERY = 9;

/** Proposes gains at once, because the real computation takes a second. They are close to the latest gains, and always differ. */
export function quickProposals(): (task: ProposalTask) => Promise<Proposal> {
  let count = 0;
  return async ({ runs }) => {
    count += 1;
    if (count % FAILS_EVERY === 0) throw new Error('nothing could be computed');
    const { kp, ki, kd } = runs.at(-1)?.gains ?? { kp: 1, ki: 0, kd: 0 };
    const curve = { periodS: 0.01, setpoint: 1, measured: [0, 1] };
    const predicted = { settlingS: 0.1, overshootPercent: 0, fitPercent: 0.5, curve };
    return { gains: { kp: 1.2 * kp + count / 1000, ki, kd }, predicted, cost: 0.1, costNow: 1 };
  };
}
