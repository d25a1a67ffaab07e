/**
 * The characters that can forge a line on a terminal or in an editor: C0, DEL, C1, the controls of the writing direction, and
 * the separators of lines and paragraphs. Also lone surrogates, which no URL and no file name can hold. As the inside of a
 * character class of a regular expression with flag u.
 */
export const CONTROLS =
  '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff';
const EACH = new RegExp(`[${CONTROLS}]`, 'gu');

/** The text as one line that shows each of these characters as `\u001b`. JSON stays the same JSON. */
export function visible(text: string): string {
  return text.replace(EACH, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The most characters of a caller's text in logs and messages. The rest is cut off. */
export const LONGEST_TEXT = 200;

/** The first characters of a caller's text, with each of these characters replaced. */
export function withoutControls(text: string): string {
  return [...text.replace(EACH, '\ufffd')].slice(0, LONGEST_TEXT).join('');
}
