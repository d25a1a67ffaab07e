import { expect } from 'chai';
import { isOwnOrigin } from '../../src/http/foreign-pages.js';

describe('a request with the origin', () => {
  for (const [origin, host, own] of [
    ['http://robot:8080', 'robot:8080', true],
    ['http://robot:8080', 'ROBOT:8080', true],
    ['http://elsewhere', 'robot:8080', false],
    ['file:///', '', false],
    ['', 'robot:8080', false],
  ] as const)
    it(`"${origin}" to the host "${host}" comes from ${own ? 'the page of the daemon' : 'a foreign page'}`, () => {
      expect(isOwnOrigin({ origin, host })).to.equal(own);
    });
});
