import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { newSecret } from '../../src/access/token.js';
import { qrCode } from '../../src/command/qr-code.js';
import { inTemporaryFolder } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';

const PIXELS = 6;

/** The picture that a camera would see of these half blocks on a dark terminal. */
function picture(code: string): Buffer {
  const rows = code
    .split('\n')
    .flatMap(line => [[...line].map(one => '█▀'.includes(one)), [...line].map(one => '█▄'.includes(one))]);
  const wide = rows.map(row => row.flatMap(isLight => Array<number>(PIXELS).fill(isLight ? 255 : 0)));
  const pixels = wide.flatMap(row => Array.from({ length: PIXELS }, () => row)).flat();
  const [width, height] = [wide[0]?.length ?? 0, wide.length * PIXELS];
  return Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), Buffer.from(pixels)]);
}

describe('a QR code', () => {
  const link = `http://raspberrypi.local:8080/#token=${newSecret()}`;

  for (const text of ['x', link, 'z'.repeat(106)])
    it(`with a text of length ${text.length} is read as exactly that text by the scanner program zbarimg`, function () {
      requirePrograms(this, 'zbarimg');
      return inTemporaryFolder(async folder => {
        const file = join(folder, 'code.pgm');
        await writeFile(file, picture(qrCode(text) ?? ''));
        const { stdout } = spawnSync('zbarimg', ['-q', '--raw', file], { encoding: 'utf8' });
        expect(stdout.trim()).to.equal(text);
      });
    });

  it('that encodes a link with a token fits on a terminal of 24 lines by 80 columns', () => {
    const lines = qrCode(link)?.split('\n') ?? [];
    expect(lines.length).to.be.within(10, 24);
    expect(lines[0]?.length).to.be.within(20, 80);
  });

  it('is not made for a text of 107 bytes, because that text is too long', () => {
    expect(qrCode('z'.repeat(107))).to.equal(undefined);
  });
});
