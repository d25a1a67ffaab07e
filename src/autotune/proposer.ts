import { Worker } from 'node:worker_threads';
import type { Proposal, ProposalTask } from '../tuning/propose.js';

/** Fits the plant and designs gains, without blocking the event loop. Ends when `signal` is aborted. */
export type Propose = (task: ProposalTask, signal: AbortSignal) => Promise<Proposal>;

/** Computes in a thread, so that polls and stops do not wait. Rejects if the thread fails or `signal` is aborted. */
export function proposeInWorker(task: ProposalTask, signal: AbortSignal): Promise<Proposal> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./propose-worker.js', import.meta.url), { workerData: task });
    signal.addEventListener('abort', () => void worker.terminate(), { once: true });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', code => reject(new Error(`the thread that computes gains ended with ${code}`)));
  });
}
