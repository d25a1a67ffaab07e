import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { Access } from '../access/access.js';
import { isLoopback } from '../access/board.js';
import { systemBoot } from '../core/boot.js';
import { type Clock, endedWithin, type Timer } from '../core/clock.js';
import { describeError, isRobotError } from '../core/errors.js';
import { openPort } from '../daemon/port.js';
import { MemoryLog, newRunId } from '../events/memory-log.js';
import { createRouteApp } from '../http/route-app.js';
import { sessionRoutes } from '../http/routes/session-routes.js';
import { type Disk, realDisk, START_MS } from '../storage/disk.js';
import { PathLock, type ProcessLock } from '../storage/path-lock.js';
import { RobotClient } from './client.js';
import { Desk } from './desk.js';
import type { DeskFile } from './desk-file.js';
import { deskMetricsRoute } from './desk-metrics.js';
import { absentOf } from './match-presses.js';
import { matchRecords } from './record.js';
import { deskRoutes } from './routes.js';
import { viewOf } from './show.js';
import type { Wanted } from './state.js';
import { SEAL_MS } from './step.js';
import { wantedFile } from './wanted-file.js';

/** The longest wait for the disk before the state counts as not kept. */
const SAVE_MS = 500;

export interface DeskParts {
  readonly file: DeskFile;
  readonly log: Logger;
  /** That of the boot, so that a page can date a press for the desk that restarts meanwhile. */
  readonly clock: Clock;
  readonly disk?: Disk;
  /** Keeps a second desk from the state folder. */
  readonly lock?: ProcessLock;
  readonly client?: Pick<RobotClient, 'send' | 'close'>;
}

/** Opens the port, and creates and connects everything. Rejects if the port or the state folder belongs to another process. */
export async function startDesk(parts: DeskParts) {
  const { file, log, clock, disk = realDisk } = parts;
  const folder = file.state;
  const { client = new RobotClient(() => clock.nowMs()), lock = new PathLock(folder) } = parts;
  // The port comes first: without it, nothing else may begin and keep the process alive.
  const port = await openPort(file, { log, clock });
  const held = disk.makeFolder(folder).then(() => lock.hold());
  held.catch(error => log.error(describeError(error), 'the state folder cannot be used'));
  // Another desk on this folder keeps the desk from starting. A disk that hangs or fails does not: robots must be locked.
  if (await endedWithin(clock, START_MS, held))
    await held.catch(async error => {
      if (!isRobotError(error, 'state-in-use')) return;
      await port.close();
      throw error;
    });
  const files = { disk, folder, clock };
  const kept = wantedFile(
    {
      ...files,
      setAside: copy => log.warn({ copy }, 'a state that was damaged, or read too late, was set aside'),
    },
    systemBoot(process.env),
  );
  const access = new Access({ ...files, required: !isLoopback(file.host), stop: 'token' });
  const [wanted] = await Promise.all([kept.read(START_MS), access.open()]);
  const runId = newRunId();
  const records = matchRecords({ disk, clock, folder: join(folder, 'records'), runId });
  void records.sealLeft(wanted.match?.record);
  const memory = new MemoryLog(clock, { runId });
  memory.recorded.add(({ event }) => records.add(event));
  let saving: Promise<void> = Promise.resolve();
  const save = (now: Wanted) => {
    memory.noteChange();
    saving = kept.save(now, kept.isStuck ? 0 : SAVE_MS).catch(() => undefined);
    follow(now);
  };
  /** The record that is being written, and the timer that seals it after the release. */
  let recording: string | undefined;
  let begun: Promise<void> = Promise.resolve();
  let sealing: Timer | undefined;
  const follow = ({ match }: Wanted) => {
    sealing?.cancel();
    if (match === null) return;
    const isReleased = match.phase === 'none';
    if (match.record !== recording) {
      recording = match.record;
      begun = isReleased ? records.resume(recording) : records.begin(recording);
      if (!isReleased)
        for (const robot of match.robots) memory.record({ what: 'in-match', detail: { robot } });
    }
    const leftMs = match.sinceMs + SEAL_MS - clock.nowMs();
    if (isReleased)
      sealing = clock.after(Math.max(0, leftMs), () => void begun.then(() => records.seal(match.record)));
  };
  const desk = new Desk({
    ...file,
    clock,
    wanted,
    send: (robot, ask) => client.send(robot, ask),
    save,
    record: event => memory.record(event),
    // A slow disk may still look for the record of an earlier run.
    keep: lines => begun.then(() => records.keep(lines)),
  });
  // A disk that fails or hangs says nothing of the list.
  const forbidIfDamaged = () => {
    if (access.state === 'unavailable' && access.problem?.context.isUnread !== true) desk.forbid();
  };
  forbidIfDamaged();
  access.changed.add(forbidIfDamaged);
  const view = () => {
    const recorded = kept.problem === undefined && records.isOk;
    const problems = [
      !desk.state.wanted.permits &&
        'The state of the desk or its list of tokens was damaged. It permits nothing until Take over is pressed: look at the field first.',
      kept.problem && `The desk cannot keep its state. ${kept.problem.context.cure ?? ''}`,
      !recorded && 'NOT RECORDED: the disk of the desk does not work.',
      access.problem &&
        'The list of tokens cannot be read. If it is damaged, trunnion-desk token add begins a new one.',
      access.state === 'open' &&
        'Everybody who reaches this desk may press: trunnion-desk token add, with the --state of this desk, closes it.',
      ...file.plans.map(({ id, robots }) => {
        const absent = absentOf(desk.state, robots);
        return absent.length > 0 && `The match ${id} names ${absent.join(', ')}: add it, or correct FILE.`;
      }),
    ].filter(text => typeof text === 'string');
    return viewOf(desk.state, { problems, recorded }, clock.nowMs());
  };
  const app = createRouteApp({
    routes: [
      ...deskRoutes({ desk, access, clock, view }),
      deskMetricsRoute(desk, view),
      ...sessionRoutes({ access, robot: { simulated: false } }),
    ],
    access,
    clock,
    log,
    eventLog: memory,
    // The robots are asked already. A desk that is killed after the answer does not forget the press.
    kept: async () => {
      await Promise.all([saving, endedWithin(clock, SAVE_MS, records.kept())]);
    },
    allowedHosts: file.allowedHosts,
    pageFolder: fileURLToPath(new URL('../../desk-page/', import.meta.url)),
  });
  port.serve(app.listener);
  desk.start();
  log.info({ url: port.url }, `listening on ${port.url}`);
  return {
    url: port.url,
    desk,
    close: async (): Promise<void> => {
      desk.close();
      sealing?.cancel();
      await port.close();
      client.close();
      app.close();
      access.close();
      memory.close();
      await records.close();
      await kept.close();
      await lock.release();
    },
  };
}
