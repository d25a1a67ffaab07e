import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import type { Received } from '../support/raw-answer.js';

interface Described {
  readonly description: string;
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

const document: {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Described>> }>>>
  >;
} = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
const ajv = new Ajv({ strict: false, allErrors: true }).addSchema(document, 'api');
/** Codes of refusals that come before a call is recognized, so no call documents them. */
const ANYWHERE = ['bad-http', 'unknown-coding'];

/**
 * The ways in which an answer differs from docs/openapi.json: its status, the code of its refusal, or the shape of
 * its body.
 */
export function undocumented(ask: string, { status, headers, body }: Received): readonly string[] {
  const [method = '', url = ''] = ask.split(' ');
  const path = url.replace(/\?.*/, '');
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses;
  const type = (headers['Content-Type'] ?? '').replace(/;.*/, '');
  if (responses === undefined || !type.includes('json')) return [];
  const code = typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : undefined;
  if (code !== undefined && ANYWHERE.includes(code)) return [];
  const response = responses[status];
  if (response === undefined || (code !== undefined && !response.description.includes(`(\`${code}\`)`)))
    return [`${ask} answers ${status} ${code ?? ''}, which is not documented`];
  const place = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema'];
  const pointer = place.map(name =>
    encodeURIComponent(String(name).replaceAll('~', '~0').replaceAll('/', '~1')),
  );
  if (ajv.validate(`api#/${pointer.join('/')}`, body)) return [];
  return [`${ask} answers ${status}: ${ajv.errorsText()}`];
}
