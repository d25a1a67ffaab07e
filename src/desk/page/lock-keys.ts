/** Keys that lock all robots. In a text field, Space is a blank. */
function locks({ key, target }: KeyboardEvent): boolean {
  const isText = target instanceof Element && target.matches('input, textarea');
  return key === 'Escape' || (key === ' ' && !isText);
}

/** Calls `lock` for Esc and Space. They press nothing else, whatever has the focus. Returns a function that ends this. */
export function listenToLockKeys(lock: () => unknown): () => void {
  const listener = (event: KeyboardEvent) => {
    if (!locks(event)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.type === 'keydown' && !event.repeat) lock();
  };
  // A browser may click the focused button when Space is released.
  const ended = new AbortController();
  for (const type of ['keydown', 'keyup'] as const)
    window.addEventListener(type, listener, { capture: true, signal: ended.signal });
  return () => ended.abort();
}
