import { readdirSync, statSync } from 'node:fs';
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
});
