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
 * To record more requests, append lines without `answer` to a file. Copy test/contract and the fixtures into a copy of
 * 0.3.0, build it, and run this test there with RECORD=1. Then copy the fixtures back.
 */

const FOLDER = 'test/fixtures/0.3.0/answers/';
const isRecording = process.env.RECORD !== undefined;
const PATTERNS = Object.values(INTENDED).flat();

describe('the answers of 0.3.0', () => {
  const used = new Set<RegExp>();

  for (const file of readdirSync(FOLDER)) {
    const story = file.replace('.jsonl', '');
    it(`are still given to the requests in ${story}.jsonl, except for intended differences`, async () => {
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

  it('differ from the answers of today in each way that intended.ts lists', () => {
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
