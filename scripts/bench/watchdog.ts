import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Figure } from './figure.js';
import { delay } from './load.js';
import type { Bench } from './plan.js';
import { Server } from './server.js';

/** The same as in trunnion.service. */
const WATCHDOG_MS = 2000;
/** The daemon feeds so often. */
const FEED_MS = WATCHDOG_MS / 8;

/** Listens in systemd's place: it prints when each datagram came, in ms of the machine's monotonic clock, and what it says. */
const LISTENER = `use Socket qw(AF_UNIX SOCK_DGRAM pack_sockaddr_un); use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);
socket(my $s, AF_UNIX, SOCK_DGRAM, 0); bind($s, pack_sockaddr_un($ARGV[0])) or die $!; $| = 1; print "0 bound\\n";
while (defined recv($s, my $said, 4096, 0)) { printf "%.1f %s\\n", 1000 * clock_gettime(CLOCK_MONOTONIC), $said }`;

const BUSY_CORE = 'while :; do :; done';
const BUSY_DISK = (file: string) =>
  `while :; do dd if=/dev/zero of='${file}' bs=1M count=64 conv=fsync 2>/dev/null; done`;

/** How late the watchdog is fed, alone and on a machine that is kept busy, and how soon a hang ends its patience. */
export async function watchdogFeeds({ plan, programs, folder }: Bench): Promise<Figure[]> {
  const path = join(folder, 'notify');
  const listener = spawn('perl', ['-e', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const fedMs: number[] = [];
  const lines = createInterface({ input: listener.stdout });
  lines.on('line', line => {
    const [atMs, said] = line.split(' ');
    if (said === 'WATCHDOG=1') fedMs.push(Number(atMs));
  });
  await once(lines, 'line');
  const through = { ...programs.daemon, through: 'systemd/with-notify-socket' };
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: String(1000 * WATCHDOG_MS) };
  const burners: ChildProcess[] = [];
  const burn = (script: string) => burners.push(spawn('sh', ['-c', script], { stdio: 'ignore' }));
  try {
    const server = await Server.start(through, folder, env);
    const worstLateness = async () => {
      fedMs.length = 0;
      await delay(plan.watchdogMs);
      return Math.max(0, ...fedMs.slice(1).map((atMs, feed) => atMs - (fedMs[feed] ?? 0) - FEED_MS));
    };
    const alone = await worstLateness();
    for (let core = 0; core < 2 * cpus().length; core += 1) burn(BUSY_CORE);
    for (const file of ['one', 'other']) burn(BUSY_DISK(join(folder, `busy-${file}`)));
    const busy = await worstLateness();
    const hungMs = Number(process.hrtime.bigint()) / 1e6;
    process.kill(server.pid, 'SIGSTOP');
    await delay(2 * FEED_MS);
    const patienceEndsMs = (fedMs.at(-1) ?? Number.NaN) + WATCHDOG_MS;
    await server.stop('SIGKILL');
    return [
      { name: 'watchdog fed late, worst, alone', unit: 'ms', values: [alone], wanted: '250' },
      {
        name: 'the same beside two busy loops a core and two writers that sync',
        unit: 'ms',
        values: [busy],
        wanted: '250',
      },
      {
        name: 'from a hang to its end by the watchdog',
        unit: 'ms',
        values: [patienceEndsMs - hungMs],
        wanted: '4000',
      },
    ];
  } finally {
    for (const burner of [...burners, listener]) burner.kill('SIGKILL');
  }
}
