import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer, Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { BREAK_GLASS_LOOK, breakGlassPath, openBreakGlass } from '../../src/access/break-glass.js';
import { askBreakGlass } from '../../src/access/break-glass-client.js';
import { breakGlassCommand } from '../../src/access/break-glass-command.js';
import { RobotError } from '../../src/core/errors.js';
import { isObject } from '../../src/core/json.js';
import { EventLog } from '../../src/events/event-log.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { ManualClock } from '../support/manual-clock.js';

const log = pino({ level: 'silent' });
const ACTS = {
  stop: async () => undefined,
  unlock: async () => undefined,
  'match end': async () => undefined,
};
const status = () => ({ version: '1.2.3' });

describe('break glass', () => {
  async function withGlass(
    stop: () => Promise<void>,
    act: (folder: string, eventLog: EventLog) => Promise<void>,
  ): Promise<void> {
    await inTemporaryFolder(async folder => {
      const eventLog = new EventLog(new ManualClock());
      const acts = { ...ACTS, stop };
      const glass = await openBreakGlass({
        path: breakGlassPath(folder),
        acts,
        status,
        simulated: false,
        eventLog,
        log,
      });
      await act(folder, eventLog);
      await glass.close();
      eventLog.close();
    });
  }

  it('stops, unlocks and ends the match, for the owner of the socket alone, and is in the log', () =>
    withGlass(
      async () => undefined,
      async (folder, eventLog) => {
        expect((await stat(breakGlassPath(folder))).mode & 0o777).to.equal(0o600);
        expect(
          (await breakGlassCommand('stop', { socket: breakGlassPath(folder), isSimulated: false })).exitCode,
        ).to.equal(0);
        expect(
          (await breakGlassCommand('unlock', { socket: breakGlassPath(folder), isSimulated: false }))
            .exitCode,
        ).to.equal(0);
        expect(
          (await breakGlassCommand('match end', { socket: breakGlassPath(folder), isSimulated: false }))
            .exitCode,
        ).to.equal(0);
        expect(eventLog.after(0).events.map(({ what, outcome }) => [what, outcome])).to.deep.equal([
          ['stop', 'done'],
          ['unlock', 'done'],
          ['phase', 'done'],
        ]);
      },
    ));

  it('shows the status, which is no event', () =>
    withGlass(
      async () => undefined,
      async (folder, eventLog) => {
        const shown = await askBreakGlass(breakGlassPath(folder), BREAK_GLASS_LOOK);
        expect(shown).to.deep.equal({ version: '1.2.3' });
        expect(eventLog.after(0).events).to.deep.equal([]);
      },
    ));

  it('outlives a connection that the system could not hand over', async () => {
    let server: Server | undefined;
    const opened = (message: unknown) => {
      if (isObject(message) && message.server instanceof Server) server = message.server;
    };
    subscribe('tracing:net.server.listen:asyncEnd', opened);
    try {
      await withGlass(
        async () => undefined,
        async folder => {
          server?.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
          expect(server?.address()).to.equal(breakGlassPath(folder));
          expect(
            (await breakGlassCommand('stop', { socket: breakGlassPath(folder), isSimulated: false }))
              .exitCode,
          ).to.equal(0);
        },
      );
    } finally {
      unsubscribe('tracing:net.server.listen:asyncEnd', opened);
    }
  });

  it('says when a stop is not confirmed', () =>
    withGlass(
      () => Promise.reject(new RobotError('not-confirmed')),
      async folder => {
        const { exitCode, text } = await breakGlassCommand('stop', {
          socket: breakGlassPath(folder),
          isSimulated: false,
        });
        expect(exitCode).to.equal(1);
        expect(text).to.include('not-confirmed').and.include('cut the power');
      },
    ));

  it('comes back after a daemon that was killed', () =>
    inTemporaryFolder(async folder => {
      await writeFile(breakGlassPath(folder), '');
      const eventLog = new EventLog(new ManualClock());
      const glass = await openBreakGlass({
        path: breakGlassPath(folder),
        acts: ACTS,
        status,
        simulated: false,
        eventLog,
        log,
      });
      expect(
        (await breakGlassCommand('stop', { socket: breakGlassPath(folder), isSimulated: false })).exitCode,
      ).to.equal(0);
      await glass.close();
      eventLog.close();
    }));

  for (const [act, says] of [
    ['stop', /^Nothing was stopped: .* cut its power\. For a simulated robot add --simulated\.$/],
    ['unlock', /^Nothing was unlocked: no robot's daemon runs here/],
    ['match end', /^No match was ended: no robot's daemon runs here/],
  ] as const) {
    it(`says that ${act} did nothing where no daemon runs`, () =>
      inTemporaryFolder(async folder => {
        const { exitCode, text } = await breakGlassCommand(act, {
          socket: breakGlassPath(folder),
          isSimulated: false,
        });
        expect([exitCode, says.test(text)], text).to.deep.equal([1, true]);
      }));
  }

  for (const [act, says] of [
    ['stop', /does not answer\. Cut the power/],
    ['unlock', /does not answer\. Restart it/],
  ] as const) {
    it(`ends ${act} within 2 s with a sentence where the daemon hangs`, () =>
      inTemporaryFolder(async folder => {
        const mute = createServer(socket => socket.resume());
        await new Promise<void>(resolve => mute.listen(breakGlassPath(folder), resolve));
        const startMs = performance.now();
        const { exitCode, text } = await breakGlassCommand(act, {
          socket: breakGlassPath(folder),
          isSimulated: false,
        });
        expect([exitCode, says.test(text)], text).to.deep.equal([1, true]);
        expect(performance.now() - startMs).to.be.lessThan(2000);
        mute.close();
      }));
  }

  it('does not keep a daemon from serving where its folder cannot be used', () =>
    inTemporaryFolder(async folder => {
      await mkdir(join(folder, 'break-glass', 'x'), { recursive: true });
      const eventLog = new EventLog(new ManualClock());
      const glass = await openBreakGlass({
        path: breakGlassPath(folder),
        acts: ACTS,
        status,
        simulated: false,
        eventLog,
        log,
      });
      await glass.close();
      eventLog.close();
    }));
});
