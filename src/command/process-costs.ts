import { readdirSync, readFileSync } from 'node:fs';

/** Processor time of all threads. /proc/PID/stat would count in steps of 10 ms. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const ns = threads.map(thread =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return ns.reduce((sum, one) => sum + one, 0) / 1e6;
}

export function memoryMiB(pid: number): number {
  const [, kiB = ''] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kiB) / 1024;
}
