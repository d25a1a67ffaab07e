/** Asks whether the nearest of these names was meant. Empty if none is near. */
export function nearest(word: string, names: readonly string[]): string {
  const near = names
    .map(name => ({ name, distance: distance(word, name) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.min(word.length, name.length) / 3))
    .sort((one, other) => one.distance - other.distance)[0];
  return near === undefined ? '' : `: did you mean ${near.name}?`;
}

/** The number of letters to insert, delete or replace. Two neighbours that changed places count once. */
function distance(from: string, to: string): number {
  if (from === '' || to === '') return from.length + to.length;
  if (from[0] === to[0]) return distance(from.slice(1), to.slice(1));
  const isSwapped = from.length > 1 && from[0] === to[1] && from[1] === to[0];
  const others = [[1, 0], [0, 1], [1, 1], ...(isSwapped ? [[2, 2]] : [])];
  return 1 + Math.min(...others.map(([left, right]) => distance(from.slice(left), to.slice(right))));
}
