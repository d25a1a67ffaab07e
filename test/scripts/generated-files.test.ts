import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { generatedFiles } from '../../scripts/generate/generated-files.js';

const files = await generatedFiles('./');

describe('a generated file', () => {
  for (const [path, text] of files) {
    it(`${path} is as "npm run generate" writes it`, () => {
      expect(readFileSync(path, 'utf8')).to.equal(text);
    });
  }
});
