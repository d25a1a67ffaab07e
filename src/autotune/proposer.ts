import { Worker } from 'node:worker_threads';
import type { Proposal } from '../tuning/propose.js';
import type { ProposalTask } from '../tuning/tuner.js';

/**
 * Computes in a thread of its own, so that no poll and no stop has to wait. Rejects when the thread fails and when
 * `signal` ends it.
 */
export function proposeInWorker(task: ProposalTask, signal: AbortSignal): Promise<Proposal> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./propose-worker.js', import.meta.url), { workerData: task });
    signal.addEventListener('abort', () => void worker.terminate(), { once: true });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', code => reject(new Error(`the thread that computes gains ended with ${code}`)));
  });
}
