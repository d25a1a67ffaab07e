export type Column = { readonly name: string; readonly values: readonly (number | null | undefined)[] };

const cell = (value: number | null | undefined) =>
  value === null || value === undefined ? '' : String(Number(value.toPrecision(9)));

/** RFC 4180 with a header after lines of `# about`; nothing known is an empty cell. */
export function csv(columns: readonly Column[], about: readonly string[] = []): string {
  const rows = Math.max(0, ...columns.map(column => column.values.length));
  const lines = [...about.map(line => `# ${line}`), columns.map(column => column.name).join(',')];
  for (let row = 0; row < rows; row += 1) {
    lines.push(columns.map(column => cell(column.values[row])).join(','));
  }
  return `${lines.join('\r\n')}\r\n`;
}
