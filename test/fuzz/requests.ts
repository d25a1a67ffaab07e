import fc from 'fast-check';
import { bentJson } from './bent-values.js';
import { type Part, partAt, partOf, validValue } from './valid-values.js';

/** The bytes of one request. */
interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'text/plain',
  'application/problem+json',
  '/',
  '',
];
const ODD_HEADERS = [
  'Content-Encoding: gzip',
  'Expect: 100-continue',
  'Origin: http://evil.example',
  'Sec-Fetch-Site: cross-site',
  'Host: evil.example',
  'X-HTTP-Method-Override: DELETE',
  'Accept: application/xml',
  'Authorization: Bearer',
  'Authorization: Bearer ::::',
  'Cookie: a=b; a=c; =',
  'Range: bytes=0-',
  'If-None-Match: *',
];
/** Targets that name a host, or that programs parse differently. */
const AUTHORITIES = [
  '127.0.0.1',
  'LOCALHOST.',
  'evil.example',
  '[',
  '[::1',
  '[::1]',
  '%@a',
  'a@b:c',
  ':99999',
  'xn--',
  '',
];
const QUERIES = [
  '?',
  '?limit=',
  '?limit=1e3',
  '?limit=-1',
  '?limit=%00',
  '?limit[]=1',
  '?a&a&a',
  '?baseRevision=1',
  '?%',
];

/**
 * Requests to every documented call, each with one change: to body, query, method, path or headers. The simulator's
 * own calls are left out, because the faults that they inject explain any answer.
 */
export function fuzzedRequests(document: Part): fc.Arbitrary<FuzzedRequest> {
  const paths = Object.entries(partOf(document.paths)).filter(([path]) => !path.startsWith('/sim/'));
  const operations = paths.flatMap(([path, item]) =>
    Object.entries(partOf(item)).map(([method, operation]) => ({
      path,
      method,
      operation: partOf(operation),
    })),
  );
  return fc.oneof(
    ...operations.map(({ path, method, operation }) => fuzzed(path, method, operation, document)),
  );
}

function fuzzed(path: string, method: string, operation: Part, document: Part): fc.Arbitrary<FuzzedRequest> {
  const schema = partAt(operation, 'requestBody', 'content', 'application/json', 'schema');
  const body = bentJson(validValue(schema, document));
  const usual = method.toUpperCase();
  return fc.record({
    method: fc.oneof({ arbitrary: fc.constant(usual), weight: 12 }, fc.constantFrom(...METHODS)),
    path: fc.oneof(
      { arbitrary: fc.constant(path), weight: 12 },
      { arbitrary: fc.constantFrom(...QUERIES).map(query => path + query), weight: 2 },
      fc.webQueryParameters().map(query => `${path}?${query}`),
      fc.constantFrom(
        `/${path}`,
        `${path}/`,
        path.toUpperCase(),
        `${path}%2f..`,
        `${path}/../../etc/passwd`,
        `${path}#[`,
        `/${path}@[#`,
        '*',
        '*x',
      ),
      fc
        .tuple(fc.constantFrom('http://', 'HTTPS://', 'ftp://', '//', ''), fc.constantFrom(...AUTHORITIES))
        .map(([scheme, authority]) => scheme + authority + path),
      fc.constantFrom(...AUTHORITIES),
    ),
    headers: fc
      .tuple(
        fc.oneof({ arbitrary: fc.constant(TYPES[0] ?? ''), weight: 12 }, fc.constantFrom(...TYPES)),
        fc.oneof({ arbitrary: fc.constant([]), weight: 8 }, fc.subarray(ODD_HEADERS, { maxLength: 2 })),
      )
      .map(([type, odd]) => [`Content-Type: ${type}`, ...odd]),
    body: usual === 'GET' ? fc.oneof({ arbitrary: fc.constant(''), weight: 6 }, body) : body,
  });
}

/** Asks the server to close the connection, which marks the end of the answer. */
export function bytesOf({ method, path, headers, body }: FuzzedRequest): Buffer {
  const host = headers.some(header => header.startsWith('Host:')) ? [] : ['Host: 127.0.0.1'];
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  const head = [`${method} ${path} HTTP/1.1`, ...host, 'Connection: close', length, ...headers];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Random bytes, or whole requests that are cut, joined, repeated or changed in single bytes. */
export function fuzzedBytes(document: Part): fc.Arbitrary<Buffer> {
  const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
  const changed = fc
    .tuple(
      fc.array(fuzzedRequests(document), { minLength: 1, maxLength: 3 }),
      fc.array(change, { maxLength: 5 }),
      fc.nat(),
    )
    .map(([requests, changes, end]) => {
      const bytes = Buffer.concat(requests.map(bytesOf));
      for (const { at, byte } of changes) bytes[at % bytes.length] = byte;
      return end % 3 === 0 ? bytes.subarray(0, end % bytes.length) : bytes;
    });
  const lines = fc.array(
    fc.constantFrom(
      'GET / HTTP/1.1',
      'POST /api/laser HTTP/1.1',
      'Host: a',
      'Transfer-Encoding: chunked',
      'ffffffff',
      '0',
      '',
    ),
    { maxLength: 12 },
  );
  return fc.oneof(
    { arbitrary: changed, weight: 6 },
    lines.map(all => Buffer.from(all.join('\r\n'))),
    fc.uint8Array({ maxLength: 2000 }).map(bytes => Buffer.from(bytes)),
  );
}
