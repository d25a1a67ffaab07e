/** Presses that make robots safer. They are never too late, and a page sends them until the desk answers. */
export const RESTRICTING: readonly string[] = ['lock', 'robots/lock', 'match/pause', 'match/end'];
