import { appendFile, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { repeatedReads } from '../../src/storage/repeated-reads.js';
import { inTemporaryFolder } from '../support/daemon.js';

const LONG_AFTER_MS = 10_000;

/** Resolves when a change gets another time stamp than what was changed before. */
async function nextStamp(folder: string): Promise<void> {
  const probe = join(folder, 'probe');
  const stamp = async () => {
    await writeFile(probe, 'a');
    return (await stat(probe, { bigint: true })).ctimeNs;
  };
  const first = await stamp();
  while ((await stamp()) === first);
}

/** Reads the file `state/file` repeatedly, as if it had changed `agoMs` before, and counts how often the disk reads it. */
async function withFile(
  agoMs: number,
  act: (file: string, readings: () => Promise<string | undefined>, count: () => number) => Promise<void>,
): Promise<void> {
  await inTemporaryFolder(async folder => {
    await mkdir(join(folder, 'state'));
    const file = join(folder, 'state', 'file');
    let count = 0;
    const read = repeatedReads(
      path => {
        count += 1;
        return readFile(path).catch(() => undefined);
      },
      () => Date.now() + agoMs,
    );
    const readings = async () => (await read(file))?.toString();
    await act(file, readings, () => count);
  });
}

const CHANGES: Readonly<
  Record<
    string,
    readonly [before: string | undefined, change: (file: string) => Promise<unknown>, after?: string]
  >
> = {
  grows: ['old', file => appendFile(file, 'er'), 'older'],
  'is overwritten in place with the same number of bytes': ['old', file => writeFile(file, 'new'), 'new'],
  'is replaced by another file': [
    'old',
    async file => {
      await writeFile(`${file}.new`, 'new');
      await rename(`${file}.new`, file);
    },
    'new',
  ],
  'is deleted': ['old', file => rm(file)],
  'is created': [undefined, file => writeFile(file, 'new'), 'new'],
  'is created as a symbolic link': [
    undefined,
    async file => {
      await writeFile(join(file, '../../target'), 'new');
      await symlink('../target', file);
    },
    'new',
  ],
  'is created in a folder that has replaced the old folder': [
    undefined,
    async file => {
      await rename(join(file, '..'), join(file, '../../old'));
      await mkdir(join(file, '..'));
      await writeFile(file, 'new');
    },
    'new',
  ],
  'is deleted with its folder': ['old', file => rm(join(file, '..'), { recursive: true })],
};

describe('repeated reads of a file', () => {
  for (const [what, [before, change, after]] of Object.entries(CHANGES)) {
    it(`read the disk only once until the file ${what}, and then ${after === undefined ? 'find no file' : 'return the new content'}`, () =>
      withFile(LONG_AFTER_MS, async (file, reading, count) => {
        if (before !== undefined) await writeFile(file, before);
        expect([await reading(), await reading(), count()]).to.deep.equal([before, before, 1]);
        await nextStamp(join(file, '../..'));
        await change(file);
        expect([await reading(), await reading(), count() > 1]).to.deep.equal([after, after, true]);
      }));
  }

  it('read the disk again if the file has only just changed, because the next change could have the same time stamp', () =>
    withFile(0, async (file, reading, count) => {
      await writeFile(file, 'old');
      expect([await reading(), await reading(), count()]).to.deep.equal(['old', 'old', 2]);
    }));

  it('are answered from the cache only for the 32 files that were read last', () =>
    inTemporaryFolder(async folder => {
      const asked: string[] = [];
      const read = repeatedReads(
        path => {
          asked.push(path);
          return readFile(path);
        },
        () => Date.now() + LONG_AFTER_MS,
      );
      const files = Array.from({ length: 33 }, (_, index) => join(folder, `${index}`));
      for (const file of files) await writeFile(file, 'a');
      for (const file of [...files, ...files.slice(-1), ...files.slice(0, 1)]) await read(file);
      expect(asked).to.deep.equal([...files, files[0]]);
    }));

  it('always read the disk if the file is large', () =>
    withFile(LONG_AFTER_MS, async (file, reading, count) => {
      await writeFile(file, 'x'.repeat(5000));
      expect([(await reading())?.length, (await reading())?.length, count()]).to.deep.equal([5000, 5000, 2]);
    }));
});
