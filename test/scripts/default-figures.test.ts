import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { defaultFigures } from '../../scripts/step/default-figures.js';

describe('docs/tuning.md', () => {
  it('says what the default gains do (else paste the output of npm run -s figures)', () => {
    const page = readFileSync('docs/tuning.md', 'utf8');
    const printed = /<!-- default-figures -->\n+([\s\S]*?)\n+<!-- \/default-figures -->/.exec(page)?.[1];
    expect(printed).equal(defaultFigures().trimEnd());
  });
});
