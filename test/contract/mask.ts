import type { Received } from '../support/raw-answer.js';
import type { RecordedAnswer } from './recorded-line.js';

/** Headers whose values differ between runs, or depend on every byte of a text. */
const HEADERS = ['X-Request-Id', 'Content-Length', 'ETag', 'Date'];
/** A recorded answer shows only how its headers differ from these. */
const USUAL = {
  'X-Request-Id': '',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'Content-Length': '',
  Date: '',
  Connection: 'close',
} as const;
/** Members that contain words for people, an id, a time, or a count of events. */
const MEMBERS =
  /^(title|detail|cure|why|words|description|summary|version|savedAt|at|t|uptimeS|beatAgeS|endsAtT|seq|hash|boot|transactions|retries|lagMs|boots)$/;
/** Members in which everything is a reading, or computed from readings. */
const READINGS =
  /^(telemetry|samples|figures|measured|output|before|proposed|predicted|axes|pose|number|setpoint|oldSetpoint)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/;
/** A text with more words counts as a sentence for people. */
const MOST_WORDS = 5;

/** Replaces everything that may differ between runs. A member that is null stays null. */
export function masked({ status, headers, body }: Received): RecordedAnswer {
  const type = headers['Content-Type'] ?? '';
  const isJson = type.includes('json') || type.includes('event-stream');
  return {
    status,
    ...unusual(headers, status),
    ...(body !== undefined && { body: isJson ? maskedValue(withoutWords(body), false) : '<text>' }),
  };
}

/** Returns undefined if all headers are usual. A usual header that is absent shows as null. */
function unusual(headers: Received['headers'], status: number): Pick<RecordedAnswer, 'headers'> {
  const json = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json';
  const usual: Readonly<Record<string, string>> = { ...USUAL, 'Content-Type': json };
  const found: Readonly<Record<string, string | null>> = {
    ...Object.fromEntries(Object.keys(usual).map(name => [name, null])),
    ...headers,
  };
  const shown = Object.entries(found)
    .map(([name, value]) => [name, value !== null && HEADERS.includes(name) ? '' : value] as const)
    .filter(([name, value]) => value !== usual[name]);
  return shown.length === 0 ? {} : { headers: Object.fromEntries(shown) };
}

/** An OpenAPI document without its descriptions, which are half of it. */
function withoutWords(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('openapi' in body)) return body;
  const text = JSON.stringify(body, (name, value) =>
    /^(description|summary|title)$/.test(name) && typeof value === 'string' ? undefined : value,
  );
  return JSON.parse(text);
}

function maskedValue(value: unknown, isReading: boolean): unknown {
  if (isReading && (typeof value !== 'object' || value === null)) return '<reading>';
  if (typeof value === 'string') return maskedText(value);
  if (Array.isArray(value)) {
    const all = value.filter(one => one !== 'target_visible').map(one => maskedValue(one, isReading));
    const areReadings = isReading || value.every(isReadingOrStep);
    return areReadings ? all.slice(0, 1) : all;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, maskedMember(name, one, isReading)]),
  );
}

function maskedMember(name: string, value: unknown, isReading: boolean): unknown {
  if (value === null) return isReading ? '<reading>' : value;
  if (name === 'events' && Array.isArray(value)) return inAnyOrder(value);
  // Counts of failed transactions, by code. In a problem, `errors` is a list instead.
  if (name === 'errors' && !Array.isArray(value)) return '<counts>';
  if (MEMBERS.test(name) && (typeof value !== 'object' || Array.isArray(value))) return `<${name}>`;
  return maskedValue(value, isReading || READINGS.test(name));
}

/** The number of captured steps depends on when the excitation began, and the number of readings on the polls. */
function isReadingOrStep(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('figures' in value || 'chassis' in value);
}

/**
 * Two units act at the same time, so the order of their events may differ. Each event gets the number of equal events
 * before it.
 */
function inAnyOrder(events: readonly unknown[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const event of events) {
    const text = JSON.stringify(maskedValue(event, false)).replace(/"(seq|t|at)":"<\1>",?/g, '');
    counts[text] = (counts[text] ?? 0) + 1;
  }
  return counts;
}

function maskedText(text: string): string {
  if (UUID.test(text)) return '<id>';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return '<time>';
  return text.split(' ').length > MOST_WORDS ? '<text>' : text;
}
