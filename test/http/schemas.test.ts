import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'chai';

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

describe('the schemas of the interface', () => {
  // The daemon does not look at this, for the sake of its start: docs/openapi.json is made from what it compiles.
  const { components }: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  const ajv = new Ajv({ strict: false });

  for (const [name, schema] of Object.entries(components.schemas)) {
    it(`${name} is a JSON Schema`, () => {
      void ajv.validateSchema(schema);
      expect(ajv.errors).to.equal(null);
    });
  }
});
