import { parentPort, workerData } from 'node:worker_threads';
import { propose } from '../tuning/propose.js';

// The one who starts this thread gives it a ProposalTask.
parentPort?.postMessage(propose(workerData));
