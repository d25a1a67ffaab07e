import { expect } from 'chai';
import { isOwnOrigin } from '../../src/http/foreign-pages.js';

describe('an origin', () => {
  for (const [origin, host, own] of [
    ['http://robot:8080', 'robot:8080', true],
    ['http://robot:8080', 'ROBOT:8080', true],
    ['http://elsewhere', 'robot:8080', false],
    ['file:///', '', false],
    ['', 'robot:8080', false],
  ] as const)
    it(`"${origin}" is ${own ? 'of the daemon' : 'foreign'} to the host "${host}"`, () => {
      expect(isOwnOrigin({ origin, host })).to.equal(own);
    });
});
