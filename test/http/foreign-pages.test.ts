import { expect } from 'chai';
import { isOwnOrigin } from '../../src/http/foreign-pages.js';

describe('a request with the Origin header', () => {
  for (const [origin, host, own] of [
    ['http://robot:8080', 'robot:8080', true],
    ['http://robot:8080', 'ROBOT:8080', true],
    ['http://elsewhere', 'robot:8080', false],
    ['file:///', '', false],
    ['', 'robot:8080', false],
  ] as const)
    it(`"${origin}" and the Host header "${host}" counts as sent by ${own ? 'the page of the daemon' : 'a page of another site'}`, () => {
      expect(isOwnOrigin({ origin, host })).to.equal(own);
    });
});
