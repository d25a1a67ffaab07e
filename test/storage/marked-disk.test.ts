import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { isRobotError } from '../../src/core/errors.js';
import { realDisk } from '../../src/storage/disk.js';
import { replaceFile } from '../../src/storage/durable-file.js';
import { markedDisk } from '../../src/storage/marked-disk.js';
import { temporaryFolder } from '../support/daemon.js';

describe('the mark for a used state folder', () => {
  const root = temporaryFolder();
  const unmarked: unknown[] = [];
  const folder = () => join(root(), 'state');
  const file = () => join(folder(), 'gains.jsonl');
  const marked = (disk = realDisk) =>
    markedDisk(disk, {
      folder: folder(),
      marks: join(root(), 'marks'),
      onUnmarked: why => unmarked.push(why),
    });
  const use = (disk?: typeof realDisk) => replaceFile(marked(disk), file(), [Buffer.from('1')]);
  const marks = () => readdir(join(root(), 'marks')).catch(() => []);
  const errnoOf = (act: Promise<unknown>) =>
    act.then(
      () => undefined,
      error => (isRobotError(error, 'storage-failed') ? error.context.errno : error),
    );

  it('is written only after the first file in the folder is safe on the disk', async () => {
    const syncFolder = () => Promise.reject(new Error('no sync'));
    await use({ ...realDisk, syncFolder }).catch(() => undefined);
    expect(await marks()).to.deep.equal([]);
    await use();
    const [mark = ''] = await marks();
    expect(await readFile(join(root(), 'marks', mark), 'utf8')).to.equal(`${folder()}\n`);
  });

  it('makes the daemon refuse an empty or missing folder until the files are back', async () => {
    await use();
    const next = marked();
    for (const path of [file(), folder()]) {
      await rm(path, { recursive: true });
      for (const act of [next.read(file()), next.list(folder()), replaceFile(next, file(), [])])
        expect(await errnoOf(act)).to.equal('empty');
    }
    await realDisk.makeFolder(folder());
    await writeFile(file(), '2');
    expect((await next.read(file()))?.toString()).to.equal('2');
  });

  it('makes the daemon refuse a folder that has only what commands leave: tokens, their lock and a trial of the doctor', async () => {
    await use();
    await rm(file());
    for (const name of ['tokens.json', 'tokens.json.lock', '.doctor-7', 'lost+found'])
      await writeFile(join(folder(), name), '');
    const next = marked();
    expect(await errnoOf(next.read(file()).then(() => undefined))).to.equal('empty');
  });

  it('causes a warning if the disk cannot store the mark, and an empty folder without a mark counts as new', async () => {
    const disk: typeof realDisk = {
      ...realDisk,
      create: path => (path.includes('marks') ? Promise.reject(new Error('full')) : realDisk.create(path)),
    };
    await use(disk);
    expect(unmarked.map(String)).to.deep.equal(['Error: full']);
    await rm(file());
    expect(await marked().read(file())).to.equal(undefined);
  });
});
