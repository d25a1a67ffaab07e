import { parentPort, workerData } from 'node:worker_threads';
import { propose } from '../tuning/propose.js';

// `workerData` is the ProposalTask that `proposer.ts` gives to this thread.
parentPort?.postMessage(propose(workerData));
