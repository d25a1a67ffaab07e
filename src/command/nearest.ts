/** Asks whether the nearest of these names was meant. Empty if none is near. */
export function nearest(word: string, names: readonly string[]): string {
  const [best] = names
    .map(name => ({ name, distance: distance(word, name) }))
    .sort((one, other) => one.distance - other.distance);
  if (best === undefined) return '';
  const most = Math.max(1, Math.floor(Math.min(word.length, best.name.length) / 3));
  if (best.distance > most) return '';
  return `: did you mean ${best.name}?`;
}

/** The number of letters to insert, delete or replace. Two letters that changed places count once. */
function distance(from: string, to: string): number {
  let older: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const line = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line[column] = Math.min(
        (last[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (older[column - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    older = last;
    last = line;
  }
  return last[to.length] ?? 0;
}
