import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const folder = fileURLToPath(new URL('../../console/', import.meta.url));

describe('the page', () => {
  it('consists of three compressed files of less than 90 KB in total', () => {
    const files = readdirSync(folder).filter(name => name.endsWith('.gz'));
    const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    const names = files.map(name => name.replace(/-.*|\.html\.gz/, ''));
    expect(names.sort()).to.deep.equal(['index', 'main', 'style']);
    expect(bytes).to.be.lessThan(90_000);
  });

  it('uses no method that is newer than the oldest browsers for which it is built', () => {
    const newer = /\.(toSorted|toReversed|toSpliced|with|isWellFormed|withResolvers|fromAsync|groupBy)\(/g;
    const scripts = readdirSync(folder).filter(name => name.endsWith('.js'));
    const used = scripts.map(name => readFileSync(join(folder, name), 'utf8').match(newer));
    expect(used).to.deep.equal([null]);
  });
});
