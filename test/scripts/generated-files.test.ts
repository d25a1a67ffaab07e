import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { generatedFiles } from '../../scripts/generate/generated-files.js';

const files = await generatedFiles('./');

describe('npm run generate', () => {
  for (const [path, text] of files) {
    it(`would change nothing in the file ${path}`, () => {
      expect(readFileSync(path, 'utf8')).to.equal(text);
    });
  }
});
