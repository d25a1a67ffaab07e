import { expect } from 'chai';
import { type LogFile, verifyLog } from '../../src/events/verify-log.js';
import type { LogHead } from '../../src/schemas/log.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { logFilesOf, runOn } from './log-bench.js';

/** Three runs of six events each, with the heads that callers received at the end of each. */
async function written(): Promise<{ files: readonly LogFile[]; heads: readonly LogHead[] }> {
  const disk = new RecordingDisk();
  const heads: LogHead[] = [];
  for (const runId of ['a', 'b', 'c']) {
    const { file } = await runOn(disk, `${runId}${Math.random()}`, run => run.resets(6));
    if (file.head !== undefined) heads.push(file.head);
  }
  return { files: logFilesOf(disk.files()), heads };
}

const linesIn = ({ content }: LogFile) => content.toString().trimEnd().split('\n');
const withLines = ({ name }: LogFile, lines: readonly string[]): LogFile => ({
  name,
  content: Buffer.from(lines.map(line => `${line}\n`).join('')),
});

describe('the verification of a log', () => {
  let files: readonly LogFile[];
  let heads: readonly LogHead[];
  let head: LogHead | undefined;
  beforeEach(async () => {
    ({ files, heads } = await written());
    head = heads.at(-1);
  });

  const replaced = (at: number, change: (file: LogFile) => LogFile) =>
    files.map((file, index) => (index === at ? change(file) : file));

  it('passes an unchanged log with the head of any of its runs, and a single file with the head of the run that wrote the file', () => {
    for (const given of heads) expect(verifyLog(files, given)).to.deep.include({ ok: true, notes: [] });
    const [, middle] = files;
    expect(verifyLog([middle!], heads[1])).to.include({ ok: true });
  });

  it('finds any changed byte if the head (hash of the newest line) is given', () => {
    for (const at of files.keys())
      for (let byte = 0; byte < files[at]!.content.length; byte += 1) {
        const changed = replaced(at, ({ name, content }) => {
          const copy = Buffer.from(content);
          copy[byte] = (copy[byte] ?? 0) ^ 0x01;
          return { name, content: copy };
        });
        expect(verifyLog(changed, head).ok, `file ${at}, byte ${byte}`).to.equal(false);
      }
  });

  it('finds changed bytes even if they decode to the same text as before', () => {
    const hidden = { name: 'x', content: Buffer.from('{"seq":1,"what":"\ufffd","boot":"","prev":""}\n') };
    const at = hidden.content.indexOf(Buffer.from('\ufffd'));
    const { content } = hidden;
    const changed = Buffer.concat([content.subarray(0, at), Buffer.from([0x80]), content.subarray(at + 3)]);
    expect(changed.toString()).to.equal(content.toString());
    const verdict = verifyLog([hidden]);
    expect(verdict.ok).to.equal(true);
    const given = verdict.ok ? verdict.head : undefined;
    expect(verifyLog([{ name: 'x', content: changed }], given).ok).to.equal(false);
  });

  it('finds any missing line if the head is given, except the first line, because the log itself deletes its oldest lines', () => {
    for (const at of files.keys())
      for (let missing = 0; missing < 6; missing += 1) {
        const changed = replaced(at, file => withLines(file, linesIn(file).toSpliced(missing, 1)));
        expect(verifyLog(changed, head).ok, `file ${at}, line ${missing}`).to.equal(at + missing === 0);
      }
  });

  it('fails even without a head if the end of any file before the last one is missing, but passes if the first file was emptied', () => {
    for (const at of [0, 1])
      for (let kept = 0; kept < 6; kept += 1) {
        const changed = replaced(at, file => withLines(file, linesIn(file).slice(0, kept)));
        const isGone = at === 0 && kept === 0;
        const verdict = verifyLog(changed);
        expect(verdict.ok, `file ${at}, ${kept} lines kept`).to.equal(isGone);
        if (!verdict.ok) expect(verdict).to.deep.include({ file: `events-0000000${at + 2}.jsonl`, line: 1 });
      }
  });

  it('finds a missing middle file, and files or lines in the wrong order', () => {
    const [first, middle, last] = files;
    expect(verifyLog([first!, last!])).to.include({ ok: false, file: last!.name, line: 1 });
    expect(verifyLog([middle!, first!, last!]).ok).to.equal(false);
    const swapped = replaced(1, file => {
      const [one, two, ...rest] = linesIn(file);
      return withLines(file, [two!, one!, ...rest]);
    });
    expect(verifyLog(swapped, head)).to.include({ ok: false, file: middle!.name });
  });

  it('finds a cut-off end or a rewritten log only if a head from before the change is given', async () => {
    const cut = replaced(2, file => withLines(file, linesIn(file).slice(0, 5)));
    expect(verifyLog(cut).ok).to.equal(true);
    expect(verifyLog(cut, head)).to.include({ ok: false, line: 5 });
    const again = await written();
    expect(verifyLog(again.files).ok).to.equal(true);
    expect(verifyLog(again.files, head).ok).to.equal(false);
  });

  it('passes a log with lines that the next file does not confirm, and notes them, but fails if the given head is one of those lines', () => {
    // The second file is rewritten to continue an older line, so that nothing confirms the line of the head.
    const [first, second] = files;
    const older = verifyLog([withLines(first!, linesIn(first!).slice(0, 3))]);
    const prev = older.ok ? older.head?.hash : '';
    const forged = withLines(second!, [JSON.stringify({ ...JSON.parse(linesIn(second!)[0]!), prev })]);
    const verdict = verifyLog([first!, forged]);
    expect(verdict.ok && verdict.notes).to.deep.equal([
      'events-00000001.jsonl: 3 lines from line 4 on are not confirmed by the next file.',
    ]);
    const found = verifyLog([first!, forged], heads[0]);
    expect(found.ok ? '' : found.why).to.contain('is not confirmed by the next file');
  });

  it('passes a log with an incomplete last line in a file, as a power cut leaves it, and notes that line', () => {
    for (const at of files.keys()) {
      const torn = replaced(at, ({ name, content }) => ({
        name,
        content: Buffer.concat([content, Buffer.from('{"seq":')]),
      }));
      expect(verifyLog(torn, head)).to.deep.include({
        ok: true,
        notes: [`events-0000000${at + 1}.jsonl: the last line is torn, as a power cut leaves it.`],
      });
    }
  });

  it('passes a log with a file written by version 0.2.0 after a downgrade, and notes that the lines of this file are unconfirmed', async () => {
    const [other] = (await written()).files;
    const verdict = verifyLog([{ ...other!, name: 'events.jsonl' }, ...files], head);
    expect(verdict).to.deep.include({
      ok: true,
      notes: ['events.jsonl: 6 lines from line 1 on are not confirmed by the next file.'],
    });
  });

  it('fails if the given head is older than the first line of the log', () => {
    const verdict = verifyLog(files.slice(1), heads[0]);
    expect(verdict.ok ? '' : verdict.why).to.include('older than the first line here');
  });
});
