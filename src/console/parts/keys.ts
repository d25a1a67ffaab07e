/** Whether what is typed goes into a field that takes letters; fields of numbers need none. */
function writesLetters(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('[type=password], [type=text]:not([inputmode=decimal])');
}

/** A key that works wherever the focus is, but for letters in a field of text. Returns the act that ends it. */
export function onKey(key: string, act: (event: KeyboardEvent) => void): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== key || event.ctrlKey || event.metaKey || event.altKey) return;
    if (key.length === 1 && writesLetters(event.target)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) act(event);
  };
  window.addEventListener('keydown', listener, { capture: true });
  return () => window.removeEventListener('keydown', listener, { capture: true });
}
