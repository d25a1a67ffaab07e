import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const folder = new URL('../../console/', import.meta.url).pathname;

describe('the page', () => {
  it('stays under 60 KB compressed, all files together', () => {
    const files = readdirSync(folder).filter(name => name.endsWith('.gz'));
    expect(files).to.have.length.of.at.least(3);
    const bytes = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(bytes).to.be.lessThan(60 * 1024);
  });
});
