import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { lineOf, logCommand } from '../../src/command/log-command.js';
import { statusCommand } from '../../src/command/status-command.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('“trunnion log”', () => {
  const daemon = simulatedDaemon();
  const place = () => ({
    isSimulated: false,
    socket: daemon.rootSocket,
    remote: { url: daemon.url, token: undefined },
  });

  it('shows which caller stopped the robot and when, and so does “trunnion status”', async () => {
    await daemon.post('/api/stop');
    await daemon.post('/api/laser', { action: 'on' });
    const { text } = await logCommand(place());
    expect(text).to.match(/^20\S+Z {2}stop {12}why=asked$/m);
    expect(text).to.match(/^20\S+Z {2}stop {12}by 127\.0\.0\.1$/m);
    expect(text).to.match(/^20\S+Z {2}laser {11}by 127\.0\.0\.1: stopped {2}action=on$/m);
    expect((await statusCommand(place())).text).to.match(/^ {2}stopped +yes since 20\S+Z by 127\.0\.0\.1$/m);
    await daemon.post('/api/resume');
    await daemon.post('/api/match/lock', { reason: 'inspection' });
    const status = await statusCommand(place());
    expect(status.json)
      .to.have.property('stop')
      .that.includes({ by: '127.0.0.1', why: 'locked by 127.0.0.1' });
    expect(status.text)
      .to.match(/^ {2}stopped +yes since 20\S+Z: locked by 127\.0\.0\.1$/m)
      .and.match(/LOCKED by 127\.0\.0\.1: inspection since 20\S+Z/);
    await daemon.post('/api/match/unlock');
  });

  it('with “--follow --json” prints each event as a line of JSON, and ends with exit code 1 if the reader closes the pipe', async function () {
    this.timeout(30_000);
    const args = ['dist/src/main.js', 'log', '--follow', '--json', '--url', daemon.url];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout);
    const [first] = await once(lines, 'line');
    expect(JSON.parse(first)).to.include({ seq: 1, what: 'start' });
    lines.close();
    child.stdout.destroy();
    await daemon.post('/api/resume');
    expect((await ended)[0]).to.equal(1);
  });

  it('shows an event on one line even if a text in the event contains line breaks', () => {
    const detail = { reason: 'x\nAT  unlock          by root' };
    const event = { seq: 1, t: 0, at: 'AT', what: 'lock', who: 'desk', outcome: 'done', detail };
    expect(lineOf(event)).to.equal('AT  lock            by desk  reason=x\\u000aAT  unlock          by root');
  });

  it('shows the caller of an event even if the event has no outcome, such as a new referee lease', () => {
    const event = { seq: 1, t: 0, at: 'AT', what: 'lease', who: 'desk', detail: { holder: 'one' } };
    expect(lineOf(event)).to.equal('AT  lease           by desk  holder=one');
  });

  it('shows only time, name and unit of an event if the event has no caller and no detail', () => {
    const event = { seq: 1, t: 0, at: 'AT', what: 'reset', unit: 'gimbal' } as const;
    expect(lineOf(event)).to.equal('AT  reset           gimbal');
  });
});
