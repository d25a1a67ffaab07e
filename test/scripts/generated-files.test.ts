import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { generatedFiles } from '../../scripts/generate/generated-files.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

const files = await generatedFiles(root);

describe('a generated file', () => {
  for (const [path, text] of files) {
    it(`${path} is as "npm run generate" writes it`, () => {
      expect(readFileSync(join(root, path), 'utf8')).to.equal(text);
    });
  }
});
