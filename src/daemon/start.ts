import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Logger } from 'pino';
import { Access } from '../access/access.js';
import { type Board, isLoopback } from '../access/board.js';
import { Autotune } from '../autotune/autotune.js';
import { type Propose, proposeInWorker } from '../autotune/proposer.js';
import type { Config } from '../config/settings.js';
import { type Boot, systemBoot } from '../core/boot.js';
import type { Clock } from '../core/clock.js';
import { Deadlines } from '../core/deadlines.js';
import { describeError, type RobotError } from '../core/errors.js';
import { UNIT_LIST } from '../core/units.js';
import { version } from '../core/version.js';
import { recordEvents, recordStorage } from '../events/event-recorder.js';
import { createFileLog } from '../events/file-log.js';
import { MemoryLog, newRunId } from '../events/memory-log.js';
import { GainsStore } from '../gains/gains-store.js';
import type { Hardware } from '../hardware/ports.js';
import { createApp } from '../http/app.js';
import { Arrivals } from '../http/arrivals.js';
import { asRoot } from '../http/authorization.js';
import { problemOf } from '../http/problems.js';
import type { Route } from '../http/route.js';
import { Match } from '../match/match.js';
import { obeyMatch } from '../match/match-control.js';
import { matchFile } from '../match/match-file.js';
import { ProfileStore } from '../profiles/profile-store.js';
import { darkenPin } from '../robot/laser.js';
import { Robot } from '../robot/robot.js';
import { StepMemory } from '../steps/step-memory.js';
import { type Disk, realDisk, START_MS } from '../storage/disk.js';
import { markedDisk } from '../storage/marked-disk.js';
import type { ProcessLock } from '../storage/path-lock.js';
import { openStopFile } from '../storage/stop-file.js';
import { agreedSilence, recordGivenSilence, silenceFile } from './agreed-silence.js';
import { openPort, openRootSocket, type Port } from './port.js';
import { robotIdFile } from './robot-id.js';
import type { Notifier } from './systemd-notify.js';

/**
 * systemd's time service makes this file when it has set the clock. The sandbox hides the signs of other time
 * services.
 */
const SYNCHRONISED = '/run/systemd/timesync/synchronized';

export interface DaemonParts {
  readonly config: Config;
  readonly hardware: Hardware;
  readonly log: Logger;
  readonly clock: Clock;
  readonly notifier?: Notifier;
  readonly disk?: Disk;
  /** The lock of the state folder. If another process holds it, the daemon does not start. */
  readonly lock?: ProcessLock;
  readonly boot?: Boot;
  /** Whether the daemon was asked to end while it was starting. It then serves no requests. */
  readonly isEnding?: () => boolean;
  /** Computes the proposals of tunings. By default in a worker thread. */
  readonly propose?: Propose;
  /** The path of the socket for root. Undefined for no socket. */
  readonly rootSocket?: string;
  /** The folder of the marks that say which state folders were used. Undefined for no marks. */
  readonly marks?: string;
  /** The simulator's own routes. */
  readonly extraRoutes?: readonly Route[];
}

export type Daemon = Awaited<ReturnType<typeof startBehind>>;

/**
 * Creates and connects everything. The laser is dark before the port opens. The port opens before the first frame on
 * the bus, because another daemon on the same port may control the robot. Requests wait until the controllers have
 * been probed.
 */
export async function start(parts: DaemonParts): Promise<Daemon> {
  darkenPin(parts.hardware, parts.log);
  const port = await openPort(parts.config.http, parts);
  return startBehind(port, parts).catch(async error => {
    await port.close();
    throw error;
  });
}

/** As `start`, on a port that is already open. */
export async function startBehind(port: Port, parts: DaemonParts) {
  const { config, hardware, log, clock, notifier, lock } = parts;
  const { boot = systemBoot(process.env), propose = proposeInWorker } = parts;
  const { folder } = config.state;
  const files = { folder, disk: diskOf(parts, folder), clock };
  const runId = newRunId();
  const isSimulated = hardware.simulated;
  const early = {
    ...files,
    setAside: (copy: string) =>
      log.warn({ copy }, 'a file that was damaged, or read too late, was set aside'),
  };
  // The files that the robot needs before it moves. A file that is not read in time counts as its most restrictive
  // value.
  const store = await GainsStore.open({ ...early, lock });
  const access = new Access({ ...early, ...config.access });
  const record = matchFile(early, boot);
  const silences = silenceFile(early);
  const isSynchronised = () => existsSync(SYNCHRONISED);
  const fileLog = createFileLog({ ...early, runId, isSynchronised });
  // The files are read in parallel, because each may wait for a slow disk. A simulated robot is new at each start, so
  // it has no record of a stop.
  const [stopFile, state] = await Promise.all([
    isSimulated || boot.id === undefined ? undefined : openStopFile(early, boot.id),
    record.read(START_MS),
    silences.read(START_MS),
    access.open(),
    fileLog.open(),
  ]);
  const { setAside: journals } = store.report();
  if (journals.length > 0)
    log.warn({ setAside: journals }, 'a damaged journal was set aside; copies are in the state folder');
  const { hostSilenceMs, pollHz, onControllerReset } = config.supervision;
  const silence = await agreedSilence(silences, hostSilenceMs);
  const deadlines = new Deadlines(clock);
  const match = new Match({ clock, deadlines, settings: config.match, state });
  const robot = new Robot({
    hardware,
    store,
    clock,
    deadlines,
    permission: match,
    settings: { pollHz, onControllerReset, laserMaxOnS: config.laser.maxOnS, silence },
    stopMemory: stopFile,
  });
  const explain = (error: RobotError) => problemOf(error).problem.detail;
  const autotune = new Autotune({ robot, clock, deadlines, propose, explain, bounds: config.gains.bounds });
  recordGivenSilence(robot, silences, silence);
  const eventLog = new MemoryLog(clock, { runId, lastSeq: fileLog.lastSeq });
  eventLog.recorded.add(({ event }) => fileLog.add(event));
  const stopRecording = recordEvents(robot, eventLog, log, clock);
  eventLog.record({ what: 'start', detail: { version, simulated: isSimulated } });
  match.happened.add(event => eventLog.record(event));
  match.changed.add(() => eventLog.noteChange());
  autotune.events.add(event => eventLog.record(event));
  access.tokensChanged.add(({ kept, closes }) => {
    const names = access.tokens.map(({ name }) => name).join(', ');
    eventLog.record({ what: 'tokens', detail: { access: access.state, names } });
    endAllButThoseOf(kept, { robot, autotune, match });
    // A caller without a token may have lit the laser, or may be driving the robot.
    if (closes)
      robot.stop('access closed').catch(error => log.error(describeError(error), 'a stop is not confirmed'));
  });
  recordStorage({ gains: store, match: record, log: fileLog, tokens: access }, eventLog);
  const control = obeyMatch({ match, robot, file: record, log });
  const setAside = (copy: string) => eventLog.record({ what: 'set-aside', detail: { file: basename(copy) } });
  const steps = await StepMemory.open(robot, { ...files, setAside });
  const profiles = new ProfileStore({ ...files, setAside });
  profiles.changed.add(() => eventLog.noteChange());
  const arrivals = new Arrivals(clock);
  robot.supervised.add(dueMs => arrivals.timerRan(dueMs));
  await robot.start();
  const robotId = robotIdFile({ ...files, setAside });
  const rooms = { robot, autotune, steps, profiles, eventLog, fileLog, access, match: control };
  if (access.state === 'open' && !isLoopback(config.http.host)) {
    log.info('open: whoever reaches this port may drive and light; sudo trunnion token add closes it');
  }
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const board = (): Board => ({
    host: port.address.address,
    port: port.address.port,
    stateFolder: resolve(files.folder),
    pid: process.pid,
    startMs,
    startCpuMs: (startCpu.user + startCpu.system) / 1000,
    busMs: robot.link.busMs,
    pollHz,
    tokens: access.tokens,
  });
  const app = createApp({ ...parts, ...rooms, arrivals, board, robotId: () => robotId.value });
  const rootSocket =
    parts.rootSocket === undefined ? undefined : await openRootSocket(parts.rootSocket, parts);
  const { url, address } = port;
  if (parts.isEnding?.() !== true) {
    port.serve(app.listener, arrivals);
    rootSocket?.serve(asRoot(app.listener), arrivals);
    log.info({ url, host: address.address, simulated: isSimulated }, `listening on ${url}`);
    notifier?.ready();
  }

  /** Darkens the laser. Then ends requests and polls, and closes everything. */
  const close = async () => {
    robot.forbidActs();
    darkenPin(hardware, log);
    notifier?.stopping();
    const portsClosed = Promise.all([port.close(), rootSocket?.close()]);
    await autotune.end('the daemon ends').catch(() => undefined);
    await robot.close();
    await portsClosed;
    app.close();
    deadlines.close();
    for (const file of [robotId, silences, stopFile, steps, profiles, record]) await file?.close();
    eventLog.close();
    eventLog.record({ what: 'end' });
    stopRecording();
    await fileLog.close();
    await store.close();
    await hardware.close();
    access.close();
  };
  return { url, close };
}

function diskOf({ disk = realDisk, marks, log }: DaemonParts, folder: string): Disk {
  if (marks === undefined) return disk;
  const onUnmarked = (error: unknown) =>
    log.warn(
      describeError(error),
      'the state folder has no mark: if it is lost, the robot starts open and unlocked',
    );
  return markedDisk(disk, { folder, marks, onUnmarked });
}

/**
 * Frees the lease and ends trials, tunings and driving, except those of root and of the callers whose tokens are kept. All
 * others have lost their tokens, or have other rights now.
 */
function endAllButThoseOf(
  kept: readonly string[],
  { robot, autotune, match }: { robot: Robot; autotune: Autotune; match: Match },
): void {
  const names = ['root', ...kept];
  match.lease.keepOnlyOf(names);
  for (const { name } of UNIT_LIST) {
    const { trial, driver, gains } = robot.units[name];
    const tune = autotune.of(name);
    if (tune?.state === 'running' && !names.includes(tune.by))
      autotune.end('its token was removed').catch(() => undefined);
    if (driver !== undefined && !names.includes(driver.by)) robot.units[name].endDrive('token removed');
    if (trial !== undefined && !names.includes(trial.by)) gains.endTrial().catch(() => undefined);
  }
}
