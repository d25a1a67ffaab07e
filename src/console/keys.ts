/** A key that works wherever the focus is: no field of this page needs it for itself. */
export function onKey(key: string, act: () => void): void {
  const listener = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) act();
  };
  window.addEventListener('keydown', listener, { capture: true });
}
