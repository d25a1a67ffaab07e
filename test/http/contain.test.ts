import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

const BARE =
  /\.(?:on|once)\(\s*'\w+',(?!\s*contain\()|\bevery\(\w+, \w+,(?!\s*contain\()|(?:setTimeout|clock\.after)\(/;

describe('the code in src/http', () => {
  it('wraps every listener and timer in `contain()`, so that an exception cannot crash the process', () => {
    const files = readdirSync('src/http', { recursive: true, encoding: 'utf8' });
    const bare = files.filter(
      file => file.endsWith('.ts') && BARE.test(readFileSync(`src/http/${file}`, 'utf8')),
    );
    expect(bare).to.deep.equal([]);
  });
});
