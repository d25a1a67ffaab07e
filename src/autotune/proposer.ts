import { Worker } from 'node:worker_threads';
import type { Proposal, ProposalTask } from '../tuning/propose.js';

/** Fits the plant and designs gains. It keeps nothing else waiting, and ends when `signal` is aborted. */
export type Propose = (task: ProposalTask, signal: AbortSignal) => Promise<Proposal>;

/** Computes in a thread, so that no poll and no stop has to wait. Rejects when the thread fails or `signal` ends it. */
export function proposeInWorker(task: ProposalTask, signal: AbortSignal): Promise<Proposal> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./propose-worker.js', import.meta.url), { workerData: task });
    signal.addEventListener('abort', () => void worker.terminate(), { once: true });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', code => reject(new Error(`the thread that computes gains ended with ${code}`)));
  });
}
