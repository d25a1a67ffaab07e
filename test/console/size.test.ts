import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const folder = fileURLToPath(new URL('../../console/', import.meta.url));

describe('the page', () => {
  it('has its first load in less than 60 KB compressed, and fetches little when somebody looks closer', () => {
    const files = readdirSync(folder).filter(name => name.endsWith('.gz'));
    const bytesOf = (names: readonly string[]) =>
      names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    const isLater = (name: string) => name.startsWith('later-');
    const atFirst = files.filter(name => !isLater(name));
    expect(atFirst.map(name => name.replace(/-.*|\.html\.gz/, '')).sort()).to.deep.equal([
      'chunk',
      'index',
      'style',
    ]);
    expect(bytesOf(atFirst)).to.be.lessThan(60_000);
    expect(bytesOf(files.filter(isLater)))
      .to.be.greaterThan(0)
      .and.lessThan(10_000);
  });
});
