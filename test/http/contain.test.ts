import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const BARE =
  /\.(?:on|once)\(\s*'\w+',(?!\s*contain\()|\bevery\(\w+, \w+,(?!\s*contain\()|(?:setTimeout|clock\.after)\(/;

describe('the code in src/http', () => {
  it('has no listener or timer whose exception could end the process: each is wrapped in the function contain()', () => {
    const files = readdirSync('src/http', { recursive: true, encoding: 'utf8' });
    const bare = files.filter(
      file => file.endsWith('.ts') && BARE.test(readFileSync(`src/http/${file}`, 'utf8')),
    );
    expect(bare).to.deep.equal([]);
  });
});
