import { isDeepStrictEqual } from 'node:util';
import type { RecordedAnswer } from './recorded-line.js';

/** How two answers differ. If their statuses differ, only status and code are shown. */
export function answerDifferences(
  before: RecordedAnswer | undefined,
  now: RecordedAnswer | undefined,
): readonly string[] {
  if (before?.status === now?.status) return differences(before, now, '');
  return [`: ${kindOf(before)} -> ${kindOf(now)}`];
}

function kindOf(answer: RecordedAnswer | undefined): string {
  const { body } = answer ?? {};
  return `${answer?.status} ${isComposite(body) ? (body.code ?? '') : ''}`.trim();
}

/** Every place where two JSON values differ, as `/pointer: before -> now`. */
function differences(before: unknown, now: unknown, pointer: string): readonly string[] {
  if (isDeepStrictEqual(before, now)) return [];
  if (!isComposite(before) || !isComposite(now) || Array.isArray(before) !== Array.isArray(now))
    return [`${pointer}: ${shown(before)} -> ${shown(now)}`];
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].flatMap(name => differences(before[name], now[name], `${pointer}/${name}`));
}

function isComposite(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function shown(value: unknown): string {
  return JSON.stringify(value) ?? 'absent';
}
