import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { generatedFiles } from '../../scripts/generate/generated-files.js';

const files = await generatedFiles('./');

describe('the generated file', () => {
  for (const [path, text] of files) {
    it(`${path} has exactly the content that “npm run generate” would write`, () => {
      expect(readFileSync(path, 'utf8')).to.equal(text);
    });
  }
});
