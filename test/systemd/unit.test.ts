import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { layOutSystem } from '../../scripts/package/layout.js';
import { suiteFolder } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';

const UNITS = '/usr/lib/systemd/system';
/** The exposure by `systemd-analyze security`. A service that may use I2C, GPIO and the network has at least 1.7; most have 9. */
const MAX_EXPOSURE = 2.0;

describe('the systemd unit trunnion.service', () => {
  const root = suiteFolder();

  before(function () {
    requirePrograms(this, 'systemd-analyze');
    layOutSystem(root());
    // Copies the targets that the unit needs, because the package has none.
    for (const unit of readdirSync(UNITS).filter(name => name.endsWith('.target'))) {
      copyFileSync(join(UNITS, unit), join(root(), UNITS, unit));
    }
  });

  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });

  it('passes “systemd-analyze verify” without an error or a warning in the file tree of the installed package', () => {
    const { status, stdout, stderr } = analyze('verify', '--man=no', `--root=${root()}`, 'trunnion.service');
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: '', stderr: '' });
  });

  it('lets the daemon write to the folder in `TRUNNION_MARKS`, which the package creates at installation and removes only at a purge', () => {
    const unit = readFileSync('systemd/trunnion.service', 'utf8');
    const [, marks = ''] = /^Environment=TRUNNION_MARKS=(.+)$/m.exec(unit) ?? [];
    expect(unit).to.include(`\nReadWritePaths=-${marks}\n`);
    // The scripts find only these programs, which print their arguments.
    const bin = join(root(), 'bin');
    mkdirSync(bin);
    for (const name of ['install', 'systemd-sysusers', 'rm'])
      writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} "$@"\n`, { mode: 0o755 });
    const ran = (script: string, argument: string) =>
      spawnSync('/bin/sh', [`systemd/debian/${script}`, argument], { encoding: 'utf8', env: { PATH: bin } })
        .stdout;
    expect(ran('postinst', 'configure')).to.include(`install -d -o trunnion -g trunnion -m 0750 ${marks}\n`);
    expect(ran('postrm', 'purge')).to.match(new RegExp(` ${marks}$`, 'm'));
    expect(ran('postrm', 'remove')).to.equal('');
  });

  it(`gets an exposure of at most ${MAX_EXPOSURE} from “systemd-analyze security” (0 is best, 10 is worst)`, () => {
    const { stdout } = analyze('security', '--offline=true', join(root(), UNITS, 'trunnion.service'));
    const exposure = /Overall exposure level for trunnion\.service: ([\d.]+)/.exec(stdout)?.[1];
    expect(Number(exposure)).to.be.at.most(MAX_EXPOSURE);
  });
});
