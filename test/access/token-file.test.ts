import { expect } from 'chai';
import { hashOf, newSecret, type Token, tokenOf } from '../../src/access/token.js';
import { decodeTokens, encodeTokens, readTokens, writeTokens } from '../../src/access/token-file.js';
import { RecordingDisk } from '../support/recording-disk.js';

const secrets = { desk: newSecret(), driver: newSecret() };
const TOKENS: readonly Token[] = [
  { name: 'desk', role: 'referee', hash: hashOf(secrets.desk) },
  { name: 'driver', role: 'operator', hash: hashOf(secrets.driver) },
];

describe('tokens', () => {
  it('have 160 random bits, in letters that cannot be mistaken for each other', () => {
    expect(newSecret()).to.match(/^([0-9a-hjkmnp-tv-z]{4}-){7}[0-9a-hjkmnp-tv-z]{4}$/);
    expect(new Set(Array.from({ length: 1000 }, newSecret)).size).to.equal(1000);
  });

  it('may be typed in capitals and with spaces instead of dashes, but unknown tokens are rejected', () => {
    const ofK: Token = { name: 'k', role: 'operator', hash: hashOf('k') };
    for (const [typed, name] of [
      [secrets.desk, 'desk'],
      [secrets.driver.toUpperCase().replaceAll('-', ' '), 'driver'],
      [newSecret(), undefined],
      ['', undefined],
      // The small letter of the Kelvin sign is k.
      ['\u212a', undefined],
    ] as const)
      expect(tokenOf(hashOf(typed), [...TOKENS, ofK])?.name, typed).to.equal(name);
  });

  it('are read back from their file with name, role and hash, but are not in the file as plain text', () => {
    const file = encodeTokens(TOKENS);
    expect(decodeTokens(file)).to.deep.equal(TOKENS);
    for (const secret of Object.values(secrets)) expect(file.toString()).not.to.include(secret);
  });

  it('are either all rejected or all read unchanged if any one byte of their file is damaged', () => {
    const file = encodeTokens(TOKENS);
    for (let at = 0; at < file.length; at += 1) {
      for (const bits of [0x01, 0x04, 0x20, 0x80, 0xff]) {
        const damaged = Buffer.from(file);
        damaged[at] = (damaged[at] ?? 0) ^ bits;
        const tokens = decodeTokens(damaged);
        if (tokens !== undefined) expect(tokens, `byte ${at} ^ ${bits}`).to.deep.equal(TOKENS);
      }
    }
  });

  it('are all rejected if their file is truncated anywhere before the end of its JSON text', () => {
    const file = encodeTokens(TOKENS);
    for (let length = 0; length < file.length - 1; length += 1) {
      expect(decodeTokens(file.subarray(0, length)), `cut at ${length}`).to.equal(undefined);
    }
  });

  it('are all rejected if the checksum of the file is wrong or missing, or if the file has no list', () => {
    const { tokens } = JSON.parse(encodeTokens(TOKENS).toString());
    tokens[1].role = 'referee';
    const sha256 = JSON.parse(encodeTokens(TOKENS).toString()).sha256;
    expect(decodeTokens(Buffer.from(JSON.stringify({ tokens, sha256 })))).to.equal(undefined);
    expect(decodeTokens(Buffer.from('{"tokens":[]}'))).to.equal(undefined);
    expect(decodeTokens(Buffer.from('null'))).to.equal(undefined);
  });

  for (const before of [TOKENS, undefined]) {
    it(`${before ? 'stay unchanged if a new list cannot be stored' : 'are not created if the first list cannot be stored'}, and the error warns only if a restart may load that list`, async () => {
      for (const [failing, mayRemain] of [
        [1, undefined],
        [2, true],
      ] as const) {
        const disk = new RecordingDisk();
        if (before !== undefined) await writeTokens(disk, '/state', before);
        disk.failTimes(failing, 'syncFolder');
        const added = [...TOKENS, { name: 'guest', role: 'spectator', hash: hashOf(newSecret()) }] as const;
        const refused = await writeTokens(disk, '/state', added).catch(error => error);
        expect(refused).to.include({ code: 'storage-failed' });
        expect(refused.context.mayRemain).to.equal(mayRemain);
        expect(await readTokens(disk, '/state')).to.deep.equal(before ?? []);
      }
    });
  }
});
