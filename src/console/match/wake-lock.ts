/** Keeps the screen lit while the page can be seen. Returns the act that ends it. */
export function keepAwake(onChange: (awake: boolean) => void): () => void {
  let ended = false;
  let lock: WakeLockSentinel | undefined;
  const ask = async () => {
    if (document.hidden || ended) return;
    try {
      lock = await navigator.wakeLock.request('screen');
      onChange(true);
      lock.addEventListener('release', () => onChange(false));
      if (ended) void lock.release();
    } catch {
      // Browsers grant it over HTTPS only, and not on a low battery.
      onChange(false);
    }
  };
  void ask();
  document.addEventListener('visibilitychange', ask);
  return () => {
    ended = true;
    document.removeEventListener('visibilitychange', ask);
    void lock?.release();
  };
}
