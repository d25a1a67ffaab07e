import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { ClockedDaemon } from '../support/clocked-daemon.js';
import { answerDifferences } from './difference.js';
import { undocumented } from './document.js';
import { INTENDED } from './intended.js';
import { masked } from './mask.js';
import type { Exchange, Line, RecordedAnswer } from './recorded-line.js';

/*
 * test/fixtures/0.3.0/answers holds the answers of 0.3.0 to 1,053 requests, refusals included. Today's daemon must give the same
 * answers: status, headers, `code`, `type`, member names and values. `mask.ts` says what is not compared.
 *
 * If an answer is meant to differ, add its reason to `intended.ts`, with a pattern for lines that the failing test prints.
 * A pattern that matches nothing fails the test.
 *
 * To record more requests, append lines without `answer` to a file. A new file needs a row in `SITUATIONS`. Copy test/contract
 * and the fixtures into a copy of 0.3.0, build it, and run this test there with RECORD=1. Then copy the fixtures back.
 */

const FOLDER = 'test/fixtures/0.3.0/answers/';
const isRecording = process.env.RECORD !== undefined;
const PATTERNS = Object.values(INTENDED).flat();

/** The situation in which the requests of each file are sent. */
const SITUATIONS: Readonly<Record<string, string>> = {
  bodies: 'to requests with a wrong body, content type or query',
  'bus-corrupt': 'while the I2C bus corrupts every frame',
  'bus-hang': 'while the I2C bus hangs',
  'bus-nack': 'while no controller acknowledges a frame',
  'bus-timeout': 'while every frame on the I2C bus times out',
  'closed-nobody': 'to callers without a token, if the daemon has a token list',
  'closed-strong': 'to callers whose token has the right for their call',
  'closed-weak': 'to callers whose token is unknown or lacks a right',
  'damaged-match': 'after a start with a damaged state file of the match',
  'damaged-tokens': 'after a start with a damaged token file',
  'failing-disk': 'while the disk fails, and after the disk works again',
  gains: 'to valid and invalid requests to save or restore gains',
  locked: 'while a referee has locked the robot, and after the unlock',
  'long-silence': 'if trials and tunings are forbidden by a configured host silence of 5 s',
  loops: 'to requests about a tuning of several loops',
  match: 'to valid and invalid requests about phases, referee leases and locks',
  methods: 'to requests with unusual methods, paths and headers',
  open: 'to each documented call, if the daemon has no tokens',
  owners: 'to requests about trials, profiles and matches from callers with different roles',
  page: 'to requests for the web page and the description of the API',
  phases: 'in every phase of a match',
  'pin-limit': "after the laser's time limit has passed",
  pin: 'while the laser pin fails, and after the pin works again',
  'referee-holds': 'if the referee desk is silent and the match is configured to continue',
  'referee-silent': 'if the referee desk is silent and the robot is stopped for that reason',
  required: 'if the configuration requires tokens, but no token exists',
  session: 'to logins with a token, and to requests with a cookie',
  'stop-by-token': 'if the configuration says that even a stop needs a token',
  stopped: 'while the robot is stopped, and after a resume',
  targets: 'to requests with unusual URLs and host names',
  trials: 'to requests about trials, excitations and captured steps',
  tuning: 'to requests about a tuning of one loop',
  unplugged: 'while the gimbal is unplugged, and after the gimbal is plugged in again',
  'unreadable-disk': 'after a start with a damaged journal of gains',
};

describe('except for the changes in intended.ts, the daemon answers like version 0.3.0', () => {
  const used = new Set<RegExp>();

  for (const file of readdirSync(FOLDER)) {
    const story = file.replace('.jsonl', '');
    it(`${SITUATIONS[story] ?? ''} (requests in ${file})`, async () => {
      const lines = readFileSync(FOLDER + file, 'utf8')
        .trim()
        .split('\n');
      const recorded = lines.map((line): Line => JSON.parse(line));
      const { answers, faults } = await answersTo(recorded);
      if (isRecording) return writeFileSync(FOLDER + file, answered(recorded, answers));
      const found = recorded.flatMap((line, place) =>
        'ask' in line
          ? answerDifferences(line.answer, answers.get(line)).map(
              text => `${story}:${place + 1} ${line.ask} ${text}`,
            )
          : [],
      );
      const unintended = found.filter(text => {
        const matching = PATTERNS.filter(pattern => pattern.test(text));
        for (const pattern of matching) used.add(pattern);
        return matching.length === 0;
      });
      expect([...unintended, ...faults].join('\n')).to.equal('');
    });
  }

  it('and each change in intended.ts appears in at least one answer', () => {
    expect(PATTERNS.filter(pattern => !isRecording && !used.has(pattern))).to.deep.equal([]);
  });
});

/** Checks the answers, and lists those that docs/openapi.json does not describe. */
async function answersTo(lines: readonly Line[]) {
  const answers = new Map<Line, RecordedAnswer>();
  const faults: string[] = [];
  const ids = new Map<string, string>();
  let daemon: ClockedDaemon | undefined;
  for (const line of lines) {
    if ('start' in line) daemon = await ClockedDaemon.start(line.start);
    else if (daemon === undefined) throw new Error('the first line starts the daemon');
    else if ('wait' in line) await daemon.wait(line.wait);
    else if ('diskFails' in line) daemon.diskFails(line.diskFails);
    else {
      const answer = await daemon.ask(withIds(line, ids));
      const { body } = answer;
      if (line.keep !== undefined && typeof body === 'object' && body !== null && 'id' in body)
        ids.set(`$${line.keep}`, String(body.id));
      answers.set(line, masked(answer));
      faults.push(...undocumented(line.ask, answer));
    }
  }
  await daemon?.close();
  return { answers, faults };
}

function withIds(line: Exchange, ids: ReadonlyMap<string, string>): Exchange {
  return JSON.parse(JSON.stringify(line), (_, value) => ids.get(value) ?? value);
}

function answered(lines: readonly Line[], answers: ReadonlyMap<Line, RecordedAnswer>): string {
  return lines
    .map(line => `${JSON.stringify('ask' in line ? { ...line, answer: answers.get(line) } : line)}\n`)
    .join('');
}
