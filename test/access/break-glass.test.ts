import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer, Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import {
  askBreakGlass,
  BREAK_GLASS_ACTS,
  BREAK_GLASS_LOOK,
  type BreakGlassAct,
  breakGlassPath,
  openBreakGlass,
} from '../../src/access/break-glass.js';
import { breakGlassCommand } from '../../src/command/break-glass-command.js';
import { saidOf } from '../../src/command/command.js';
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
  const ask = (folder: string, act: BreakGlassAct) =>
    breakGlassCommand(act, { socket: breakGlassPath(folder), isSimulated: false }).catch(saidOf);

  async function inFolder(
    folder: string,
    act: (eventLog: EventLog) => Promise<void> = async () => undefined,
    stop = ACTS.stop,
  ): Promise<void> {
    const eventLog = new EventLog(new ManualClock());
    const path = breakGlassPath(folder);
    const acts = { ...ACTS, stop };
    const glass = await openBreakGlass({ path, acts, status, simulated: false, eventLog, log });
    await act(eventLog);
    await glass.close();
    eventLog.close();
  }

  it('stops, unlocks and ends the match, for the owner of the socket alone, and is in the log', () =>
    inTemporaryFolder(folder =>
      inFolder(folder, async eventLog => {
        expect((await stat(breakGlassPath(folder))).mode & 0o777).to.equal(0o600);
        for (const act of BREAK_GLASS_ACTS) expect((await ask(folder, act)).exitCode, act).to.equal(0);
        expect(await askBreakGlass(breakGlassPath(folder), BREAK_GLASS_LOOK)).to.deep.equal({
          version: '1.2.3',
        });
        expect(eventLog.after(0).events.map(({ what, outcome }) => [what, outcome])).to.deep.equal([
          ['stop', 'done'],
          ['unlock', 'done'],
          ['phase', 'done'],
        ]);
      }),
    ));

  it('still serves after the system failed to accept a connection', async () => {
    let server: Server | undefined;
    const opened = (message: unknown) => {
      if (isObject(message) && message.server instanceof Server) server = message.server;
    };
    subscribe('tracing:net.server.listen:asyncEnd', opened);
    try {
      await inTemporaryFolder(folder =>
        inFolder(folder, async () => {
          server?.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
          expect(server?.address()).to.equal(breakGlassPath(folder));
          expect((await ask(folder, 'stop')).exitCode).to.equal(0);
        }),
      );
    } finally {
      unsubscribe('tracing:net.server.listen:asyncEnd', opened);
    }
  });

  it('says when a stop is not confirmed, after a daemon that was killed', () =>
    inTemporaryFolder(async folder => {
      await writeFile(breakGlassPath(folder), '');
      const asks = async (eventLog: EventLog) => {
        const { exitCode, text } = await ask(folder, 'stop');
        expect(exitCode).to.equal(1);
        expect(text).to.include('not-confirmed').and.include('cut the power');
        expect(eventLog.after(0).events[0]).to.include({ what: 'stop', outcome: 'not-confirmed' });
      };
      await inFolder(folder, asks, () => Promise.reject(new RobotError('not-confirmed')));
    }));

  for (const [act, says, hangs] of [
    ['stop', /^Nothing was stopped: .* cut its power\. For a simulated robot add --simulated\.$/, false],
    ['unlock', /^Nothing was unlocked: no robot's daemon runs here/, false],
    ['match end', /^No match was ended: no robot's daemon runs here/, false],
    ['stop', /does not answer\. Cut the power/, true],
    ['unlock', /does not answer\. Restart it/, true],
  ] as const)
    it(`ends ${act} with a sentence if ${hangs ? 'the daemon hangs' : 'no daemon runs'}`, () =>
      inTemporaryFolder(async folder => {
        const mute = createServer(socket => socket.resume());
        if (hangs) await new Promise<void>(resolve => mute.listen(breakGlassPath(folder), resolve));
        const { exitCode, text } = await ask(folder, act);
        expect([exitCode, says.test(text)], text).to.deep.equal([1, true]);
        mute.close();
      }));

  it('does not keep a daemon from serving if its folder cannot be used', () =>
    inTemporaryFolder(async folder => {
      await mkdir(join(folder, 'break-glass', 'x'), { recursive: true });
      await inFolder(folder);
    }));
});
