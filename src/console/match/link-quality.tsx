import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { LinkState } from '../bar/link-state.js';
import { useModel } from '../parts/console.js';

const LOOK_MS = 2000;

/** How long the daemon takes to answer, and how often it is heard from. */
export function LinkQuality() {
  const model = useModel();
  const { daemon } = model;
  const answerMs = useSignal<number | undefined>(undefined);
  const hz = useSignal<number | undefined>(undefined);
  useEffect(() => {
    let [count, sinceMs] = [0, 0];
    const look = async () => {
      const nowMs = performance.now();
      if (sinceMs > 0) hz.value = Math.round(((model.telemetry.count - count) * 1000) / (nowMs - sinceMs));
      [count, sinceMs] = [model.telemetry.count, nowMs];
      const outcome = await daemon.ping();
      answerMs.value = 'body' in outcome ? Math.max(1, Math.round(performance.now() - nowMs)) : undefined;
    };
    void look();
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <LinkState>
      Live · {answerMs.value ?? '–'} ms · {hz.value ?? '–'} Hz
    </LinkState>
  );
}
