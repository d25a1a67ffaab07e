import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { inTemporaryFolder } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';

const STRICT = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-pedantic'];

describe('the C header motor_registers.h', function () {
  this.timeout(60_000);

  it('lets a C program compile without a warning and make the same frames and checksums as the daemon', async function () {
    requirePrograms(this, 'cc');
    const printed = await inTemporaryFolder(async folder => {
      const program = join(folder, 'golden-frames');
      execFileSync('cc', [...STRICT, '-I', 'docs', 'test/scripts/golden-frames.c', '-o', program]);
      return execFileSync(program, { encoding: 'utf8' });
    });
    expect(printed.trimEnd().split('\n')).to.deep.equal([
      'identity: 54 52 55 4e 01 01 01 02 03 04 e8 03 f6',
      'status: 44 33 22 11 02 07 01 01 ef be ad de 0a 07 09 ae',
      'gains: 00 00 80 3f 00 00 00 3f 00 00 00 c0 7e',
      'telemetry: c8 00 00 18 fc d0 07 48 f4 a0 0f 78 ec 70 17 a8 e4 40 1f d8 dc 10 27 08 d5 ae',
      'gains checksum: 706c6711',
      'crc32 of 123456789: cbf43926',
      'crc8 of 123456789: f4',
      'sealed: 1 0',
    ]);
  });
});
