import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { simulatedDaemon } from '../support/simulated-daemon.js';

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>;
}

/** test/contract checks the recorded answers against the OpenAPI document. */
describe('docs/openapi.json', () => {
  const { components, paths }: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

  it('has schemas that are JSON Schema', () => {
    const ajv = new Ajv({ strict: false });
    for (const [name, schema] of Object.entries(components.schemas)) {
      void ajv.validateSchema(schema);
      expect(ajv.errors, name).to.equal(null);
    }
  });

  it('asks for a token if the call needs a right; a stop may need none', () => {
    for (const [path, operations] of Object.entries(paths))
      for (const { security, 'x-right': right } of Object.values(operations)) {
        const expected = right === 'none' ? [] : [...(/stop/.test(String(right)) ? [{}] : []), { token: [] }];
        expect(security, path).to.deep.equal(expected);
      }
  });
});

describe('GET /api/openapi.json', () => {
  const daemon = simulatedDaemon();

  it('does not delay other requests while the document is made', async () => {
    const answered: string[] = [];
    const ask = async (path: string) => {
      await daemon.get(path);
      answered.push(path);
    };
    await Promise.all([ask('/api/openapi.json'), ask('/healthz')]);
    expect(answered).to.deep.equal(['/healthz', '/api/openapi.json']);
  });
});
