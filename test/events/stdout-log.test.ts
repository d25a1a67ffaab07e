import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readableLine } from '../../src/events/stdout-log.js';
import { temporaryFolder } from '../support/daemon.js';
import { skip } from '../support/programs.js';

const log = new URL('../../src/events/stdout-log.js', import.meta.url).href;

/** A process that logs this many lines and then ends as the daemon does. */
function logger(lines: number, stdout: 'pipe' | number = 'pipe'): ChildProcess {
  const code = `
    import { createStdoutLog } from '${log}';
    const log = createStdoutLog({ level: 'info' });
    for (let line = 0; line < ${lines}; line += 1) log.info({ line }, 'a line that is not short, for there are many');
    process.once('message', () => { log.info('end'); log.flush(); process.exit(0); });
    process.send('logged');`;
  return spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  });
}

async function end(child: ChildProcess): Promise<number> {
  child.send('end');
  const [code] = await once(child, 'exit');
  return code;
}

/** Resolves when the process has written at least so many bytes. */
function hasWritten(child: ChildProcess, bytes: number): Promise<void> {
  let left = bytes;
  return new Promise(resolve => {
    child.stdout?.on('data', part => {
      left -= part.length;
      if (left <= 0) resolve();
    });
  });
}

async function linesOf(child: ChildProcess): Promise<Record<string, unknown>[]> {
  let text = '';
  for await (const part of child.stdout ?? []) text += part;
  return parsed(text);
}

function parsed(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
}

describe('the log of a process on stdout', () => {
  const folder = temporaryFolder();

  it('reaches the reader complete and in order, including the line that was written just before the process exits', async () => {
    const child = logger(1000);
    const reading = linesOf(child);
    await once(child, 'message');
    expect(await end(child)).to.equal(0);
    const written = (await reading).map(({ line, msg }) => line ?? msg);
    expect(written).to.deep.equal([...Array(1000).keys(), 'end']);
  });

  it('has each line exactly once, even if the log is flushed in the middle of a write', async () => {
    const code = `
      import { createStdoutLog } from '${log}';
      const log = createStdoutLog({ level: 'info' });
      let count = 0;
      const more = () => log.info({ line: count++ }, 'a line that is not short, for there are many');
      while (count < 200) more();
      const isWriting = () => process.getActiveResourcesInfo().some(resource => resource.startsWith('FSReq'));
      const end = () => {
        // A quick write ends before this turn sees it. The next one may not.
        if (!isWriting()) {
          more();
          return setImmediate(end);
        }
        process.stderr.write(String(count));
        log.flush();
        setTimeout(() => process.exit(0), 50);
      };
      end();`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code]);
    let count = '';
    child.stderr.on('data', part => {
      count += part;
    });
    const closed = once(child, 'close');
    const written = await linesOf(child);
    await closed;
    expect(written.map(({ line }) => line)).to.deep.equal([...Array(Number(count)).keys()]);
    expect(written).to.have.lengthOf.at.least(200);
  });

  it('drops lines if the reader is too slow, and has a line with the number of dropped lines', async () => {
    const child = logger(50_000);
    await once(child, 'message');
    const hasAllThatWaited = hasWritten(child, (1 << 20) - 200);
    const reading = linesOf(child);
    await hasAllThatWaited;
    expect(await end(child)).to.equal(0);
    const written = await reading;
    const lost = Number(written.find(({ msg }) => msg === 'log lines lost')?.lines);
    expect(lost).to.be.greaterThan(10_000);
    expect(written.filter(({ line }) => line !== undefined).length + lost).to.equal(50_000);
  });

  it('lets the process end even if the reader reads nothing, and the last written line is complete', async () => {
    const fifo = join(folder(), 'log');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(fifo, 'w');
    const child = logger(50_000, writer);
    await once(child, 'message');
    expect(await end(child)).to.equal(0);
    closeSync(writer);
    const written = parsed(readFileSync(reader, 'utf8'));
    closeSync(reader);
    expect(written.length).to.be.greaterThan(100);
    expect(written.map(({ line }) => line)).to.deep.equal([...written.keys()]);
  });

  it('lets the process end even if the disk is full', async function () {
    if (!existsSync('/dev/full')) skip(this, 'no /dev/full on this machine');
    const child = logger(1000, openSync('/dev/full', 'w'));
    await once(child, 'message');
    expect(await end(child)).to.equal(0);
  });

  const URL_TEXT = 'http://127.0.0.1:8080';
  for (const [what, json, isInColour, text] of [
    [
      'has time, level, event and details on one line in the format for people',
      { level: 30, msg: 'mode', unit: 'gimbal', before: 'manual', after: 'auto' },
      false,
      '00:16:40.000 INFO  mode unit="gimbal" before="manual" after="auto"\n',
    ],
    [
      'shows the address of the page on a separate line in the format for people',
      { level: 30, msg: `listening on ${URL_TEXT}`, url: URL_TEXT, simulated: true },
      false,
      `00:16:40.000 INFO  listening simulated=true\n\n  ${URL_TEXT}\n`,
    ],
    [
      'is coloured in the format for people if the terminal has colours',
      { level: 40, msg: 'journal damaged' },
      true,
      '\x1b[2m00:16:40.000\x1b[0m \x1b[33mWARN \x1b[0m \x1b[1mjournal damaged\x1b[0m\n',
    ],
  ] as const) {
    it(what, () => {
      expect(readableLine(JSON.stringify({ time: 1_000_000, ...json }), isInColour)).to.equal(text);
    });
  }
});
