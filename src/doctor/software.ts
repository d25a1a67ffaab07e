import { version } from '../core/version.js';
import { type Case, type Checks, UNIT } from './case.js';
import { AS_ROOT, errorCode, type Found, fine, memberOf, unknown, wrong } from './finding.js';

export const SOFTWARE_CHECKS: Checks = {
  node: async ({ system }) => {
    const found = `Node ${system.nodeVersion}`;
    const [, oldest = '', above] = /^>=([\d.]+)(?: <(\d+))?$/.exec(system.nodeRange) ?? [];
    if (isBefore(system.nodeVersion, oldest))
      return wrong(
        `${found} is older than ${oldest}`,
        'sudo apt update && sudo apt install nodejs (Debian 13 or later)',
      );
    if (above === undefined || isBefore(system.nodeVersion, above)) return fine(found);
    return wrong(
      `${found}: the addons of this package fit Node ${oldest} to before ${above} only`,
      `sudo apt install --allow-downgrades 'nodejs=${parseInt(oldest, 10)}.*'`,
    );
  },
  addons: async ({ system }) => {
    const problem = (await system.addonProblem('i2c-bus')) ?? (await system.addonProblem('onoff'));
    if (problem !== undefined) return wrong(problem.context.missing, problem.context.cure);
    return fine('i2c-bus and onoff load');
  },
  configuration: async ({ configProblem }) => {
    if (configProblem === undefined) return fine('without a mistake');
    return wrong(
      `${configProblem.replaceAll('\n', '; ')}; the other checks use the defaults`,
      'correct it (or run sudo trunnion doctor, if you may not read it), then sudo systemctl restart trunnion',
    );
  },
  service: async ({ service }) => {
    if (service === undefined)
      return wrong(
        `systemd has no ${UNIT}`,
        'sudo apt install ./trunnion_*.deb, or scripts/install in a checkout; if an installation was interrupted: sudo dpkg --configure -a',
      );
    const { UnitFileState: enabled, ActiveState: active = '', SubState: sub } = service;
    if (enabled !== 'enabled')
      return wrong(
        `does not start at boot: ${enabled}`,
        'sudo dpkg --configure -a if an installation was interrupted; then sudo systemctl enable --now trunnion',
      );
    if (active === 'active') return fine('enabled and active');
    if (sub === 'auto-restart')
      return wrong('ends, and systemd restarts it again and again', 'journalctl -u trunnion -n 50');
    if (active === 'activating') return unknown('starting', 'Ask again in some seconds.');
    return wrong(`enabled, but ${active}`, 'sudo systemctl start trunnion; journalctl -u trunnion -n 50');
  },
  'last stop': lastStop,
  daemon,
  port,
};

/** Whether version a.b.c comes before d.e. */
function isBefore(version: string, bound: string): boolean {
  const [left, right] = [version, bound].map(text => text.split('.').map(Number));
  const at = right?.findIndex((part, index) => part !== left?.[index]) ?? -1;
  return at >= 0 && (left?.[at] ?? 0) < (right?.[at] ?? 0);
}

/** Explains systemd's names for the ways in which a service ends. */
const RESULTS: Readonly<Record<string, string>> = {
  success: 'ended in order',
  watchdog: 'hung, and the watchdog ended it',
  signal: 'killed by a signal',
  'core-dump': 'crashed with a core dump',
  'exit-code': 'ended with an error',
  timeout: 'did not start or stop in time',
  'oom-kill': 'killed because memory ran out',
  resources: 'could not be started',
};

/** systemd's message ids: the service succeeded; the service failed. */
const ENDS = ['MESSAGE_ID=7ad2d189f7e94e70a38c781354912448', 'MESSAGE_ID=d9b373ed55a64feb8242e02dbe79a49c'];

/** Says how the service last stopped. systemd counts its own restarts until a person starts the service. */
async function lastStop({ system, service }: Case): Promise<Found> {
  if (service === undefined) return unknown('no service');
  const last = await lastEnd(system).catch(() => undefined);
  const { NRestarts: restarts = '0', Result: result = 'success', ExecMainStatus: status = '0' } = service;
  if (restarts === '0' && result === 'success')
    return fine(last ?? 'has not ended by itself since it was last started');
  // A restart clears systemd's result, and only some users may read the journal.
  if (last === undefined && result === 'success')
    return unknown(`restarted ${restarts} times; why is in the journal`, AS_ROOT);
  const why = last ?? `${RESULTS[result] ?? result}, status ${status}`;
  return wrong(
    restarts === '0' ? why : `${why}; restarted ${restarts} times`,
    'journalctl -u trunnion -n 100 says more; sudo systemctl restart trunnion resets the count',
  );
}

/** Reads the service's last end from the journal, because systemd forgets the result at a restart. */
async function lastEnd(system: Case['system']): Promise<string> {
  const args = ['--no-pager', '--output', 'json', '--lines', '1', `UNIT=${UNIT}`, ...ENDS];
  const entry: unknown = JSON.parse(await system.run('journalctl', ...args));
  const result = String(memberOf(entry, 'UNIT_RESULT') ?? 'success');
  const at = new Date(Number(memberOf(entry, '__REALTIME_TIMESTAMP')) / 1000);
  return `${RESULTS[result] ?? result}, ${at.toISOString()}`;
}

async function daemon(asked: Case): Promise<Found> {
  const { system, status, running, isClosed, simulatorAnswers, daemonRuns, url } = asked;
  if (simulatorAnswers)
    return wrong(`a simulator answers at ${url}, not the robot`, 'stop trunnion-sim, or use another --port');
  if (running !== undefined && running !== version)
    return wrong(`version ${running} runs, ${version} is installed`, 'sudo systemctl restart trunnion');
  if (status !== undefined) {
    const { state, exposed } = status.access;
    if (state === 'unavailable') return wrong(`serves ${url}, but nobody may act`, 'See "tokens".');
    const closed = isClosed ? ', closed to everyone without a token' : '';
    return fine(`serves ${url}${state === 'open' && exposed ? `, ${OPEN}` : closed}`);
  }
  if (isClosed && system.user.uid === 0)
    return wrong(
      'does not answer on the board: sudo trunnion stop does not reach it',
      'sudo systemctl restart trunnion',
    );
  if (isClosed) return unknown(`serves ${url}, closed to everyone without a token: root sees more`, AS_ROOT);
  if (daemonRuns)
    return wrong(
      `runs, but does not answer at ${url}`,
      asked.simulatedAt !== undefined
        ? 'end it, and start it again; or run this as the user who started it'
        : 'journalctl -u trunnion -n 50 shows its address: ask with that --port; or sudo systemctl restart trunnion',
    );
  return fine('does not run: the other checks look at bus, pin and folder directly');
}

const OPEN = 'open to everyone who reaches it (sudo trunnion token add NAME --role operator closes it)';

async function port({ system, config, user, status, isClosed, daemonRuns, url }: Case): Promise<Found> {
  const { host, port } = config.http;
  if (user.uid !== 0 && port > 0 && port < (await firstFreePort(system)))
    return wrong(`${port} is for root only, and the daemon is ${user.name}`, 'set http.port to 1024 or more');
  if (status !== undefined || isClosed) return fine(`${port} is the daemon's`);
  if (daemonRuns) return unknown(`a daemon runs, but not at ${url}`);
  try {
    await system.tryPort(host, port);
    return fine(`${port} is free`);
  } catch (error) {
    const code = errorCode(error);
    const whose = `sudo ss -ltnp 'sport = :${port}' shows whose; or set http.port`;
    if (code === 'EADDRINUSE') return wrong(`${port} is another program's`, whose);
    if (code === 'EADDRNOTAVAIL')
      return wrong(`${host} is no address of this board`, 'set http.host to 0.0.0.0');
    return unknown(`${port} could not be tried: ${code}`, AS_ROOT);
  }
}

/** The first port that a user other than root may use. */
async function firstFreePort(system: Case['system']): Promise<number> {
  const file = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
  return system.readFile(file).then(Number, () => 1024);
}
