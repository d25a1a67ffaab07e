import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { inTemporaryFolder } from '../support/daemon.js';
import { sectionOf } from '../support/documented-calls.js';
import { requirePrograms } from '../support/programs.js';

/** Files about the current state of this robot, its people and this boot. Restoring old copies would be wrong. */
const OF_NOW = [
  'tokens.json',
  'match.json',
  'match.json.damaged-0123456789abcdef',
  'events.jsonl',
  'events.old.jsonl',
  'host-silence.json',
  'host-silence.json.new',
  'stop.json',
  'stop.json.new',
];
const KEPT = ['gains.jsonl', 'profiles.json', 'steps/chassis-speed.jsonl'];

describe('the backup command in docs/install.md', () => {
  it('saves gains, profiles and step responses, but no file about the current state, such as the lock or the tokens', function () {
    requirePrograms(this, 'tar');
    return inTemporaryFolder(async folder => {
      for (const made of ['etc/trunnion', 'var/lib/trunnion/steps'])
        mkdirSync(join(folder, made), { recursive: true });
      for (const file of [...OF_NOW, ...KEPT]) writeFileSync(join(folder, 'var/lib/trunnion', file), '');
      const section = sectionOf(readFileSync('docs/install.md', 'utf8'), '## Backup');
      const [documented = ''] = /(?<=^ {4}sudo )tar cz.*/m.exec(section) ?? [];
      const command = documented.replaceAll(/ \/(etc|var)/g, ' $1');
      execFileSync('sh', ['-c', command], { cwd: folder });
      const packed = execFileSync('tar', ['tzf', 'trunnion-backup.tgz'], { cwd: folder, encoding: 'utf8' });
      const files = packed.split('\n').filter(name => name !== '' && !name.endsWith('/'));
      expect(files.sort()).to.deep.equal(KEPT.map(name => `var/lib/trunnion/${name}`).sort());
    });
  });
});
