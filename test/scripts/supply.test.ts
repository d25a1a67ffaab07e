import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));

function lockedPackages(): [string, Locked][] {
  const lock: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(`${root}package-lock.json`, 'utf8'),
  );
  return Object.entries(lock.packages).filter(([folder]) => folder !== '');
}

describe('package-lock.json', () => {
  it('pins the content of every package with a SHA-512 hash', () => {
    const unpinned = lockedPackages().filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
    expect(unpinned).to.deep.equal([]);
  });

  it('lists install scripts only for epoll, i2c-bus and packages for developers', () => {
    const scripts = lockedPackages().filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev);
    expect(scripts.map(([folder]) => folder).sort()).to.deep.equal([
      'node_modules/epoll',
      'node_modules/i2c-bus',
    ]);
  });
});
