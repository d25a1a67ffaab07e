import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import type { Clock } from '../core/clock.js';
import { describeError, RobotError } from '../core/errors.js';
import { version } from '../core/version.js';
import { EventLog } from '../events/event-log.js';
import { happeningsOf } from '../events/robot-happenings.js';
import { logRobotEvents } from '../events/robot-log.js';
import { GainsStore } from '../gains/gains-store.js';
import { type Hardware, isMissing } from '../hardware/ports.js';
import { createApp } from '../http/app.js';
import type { Route } from '../http/route.js';
import { createHttpServer } from '../http/server.js';
import { agreedSilence, recordGivenSilence } from '../robot/agreed-silence.js';
import { everythingAllowed } from '../robot/permission.js';
import { Robot } from '../robot/robot.js';
import { type Disk, realDisk } from '../storage/disk.js';
import { SilenceRecord } from '../storage/silence-record.js';
import type { Notifier } from './systemd-notify.js';

export interface Parts {
  readonly config: Config;
  readonly hardware: Hardware;
  readonly log: Logger;
  readonly clock: Clock;
  readonly notifier?: Notifier;
  readonly disk?: Disk;
  /** Served beside the interface and not documented. */
  readonly hiddenRoutes?: readonly Route[];
}

export interface Daemon {
  readonly url: string;
  /** Dark first; then no more requests, no more polls, and everything released. */
  close(): Promise<void>;
}

/** For the requests under way at the end. */
const GRACE_MS = 200;

/** Connections that wait to be accepted: a burst beyond it would cost an honest client a second of its own retry. */
const BACKLOG = 4096;

/** Wires everything. The laser is dark before the port opens. */
export async function start(parts: Parts): Promise<Daemon> {
  const { config, hardware, log, clock, notifier, disk = realDisk, hiddenRoutes } = parts;
  darken(hardware, log);
  const store = await GainsStore.open({ folder: config.state.folder, clock, disk });
  const { setAside } = store.report();
  if (setAside.length > 0)
    log.warn({ setAside }, 'a damaged journal was set aside; copies are in the state folder');
  const { hostSilenceMs, pollHz, onControllerReset } = config.supervision;
  const silenceRecord = await SilenceRecord.open({ folder: config.state.folder, disk, clock });
  const silence = await agreedSilence(silenceRecord, hostSilenceMs, clock);
  const robot = new Robot({
    hardware,
    store,
    clock,
    permission: everythingAllowed,
    settings: {
      pollHz,
      onControllerReset,
      laserMaxOnS: config.laser.maxOnS,
      silence,
    },
  });
  recordGivenSilence(robot, silenceRecord, silence);
  const eventLog = new EventLog(clock);
  eventLog.record({ what: 'start', detail: { version, simulated: hardware.simulated } });
  robot.events.add(event => {
    for (const happening of happeningsOf(event)) eventLog.record(happening);
  });
  const stopLogging = logRobotEvents(robot, log, clock);
  await robot.start();
  const app = createApp({
    robot,
    log,
    eventLog,
    clock,
    version,
    allowedHosts: config.http.allowedHosts,
    gainBounds: config.gains.bounds,
    guard: () => undefined,
    consoleFolder: fileURLToPath(new URL('../../console/', import.meta.url)),
    hiddenRoutes,
  });
  const server = createHttpServer(app.callback());
  const { host, port } = config.http;
  const address = await new Promise<AddressInfo>((resolve, reject) => {
    const refused = (error: unknown) =>
      reject(new RobotError('cannot-listen', { host, port }, { cause: error }));
    server.once('error', refused);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', refused);
      // Such as too many open files: one connection is lost, and the daemon goes on.
      server.on('error', error => log.warn(describeError(error), 'connection not accepted'));
      const bound = server.address();
      if (bound !== null && typeof bound === 'object') resolve(bound);
    });
  });
  const url = urlOf(address);
  log.info({ url, host: address.address, simulated: hardware.simulated }, `listening on ${url}`);
  notifier?.ready();

  const close = async () => {
    darken(hardware, log);
    notifier?.stopping();
    await robot.close();
    stopLogging();
    await closeServer(server, clock);
    await silenceRecord.close();
    await store.close();
    await hardware.close();
    eventLog.close();
  };
  return { url, close };
}

/** What is being answered may end; streams and the slow are cut. */
async function closeServer(server: Server, clock: Clock): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve));
  server.closeIdleConnections();
  const grace = clock.after(GRACE_MS, () => server.closeAllConnections());
  await closed;
  grace.cancel();
}

/** An address that a browser on this machine can open. */
function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`;
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`;
}

export function darken(hardware: Hardware, log: Logger): void {
  if (isMissing(hardware.laser)) return;
  try {
    hardware.laser.write(false);
  } catch (error) {
    log.error(describeError(error), 'the laser pin does not obey');
  }
}
