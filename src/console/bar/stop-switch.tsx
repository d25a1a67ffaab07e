import { useConsole } from '../parts/console.js';
import { Press } from '../parts/press.js';
import { vibrate } from '../parts/vibrate.js';

/** One press, or Escape from anywhere. */
export function StopButton() {
  const { model } = useConsole();
  return (
    <Press
      act={model.stop.act}
      what="stop"
      run={() => {
        vibrate([80, 40, 80]);
        model.stop.press();
      }}
      atTouch
      class="stop"
      aria-keyshortcuts="Escape"
      data-key="Esc"
    >
      STOP
    </Press>
  );
}

export function ResumeButton() {
  const { model } = useConsole();
  const running = model.fresh.value && model.status.value?.stopped === false;
  return (
    <Press
      act={model.resuming}
      what="resume"
      run={() => model.resume()}
      class="resume"
      disabled={running || !model.may('resume')}
    >
      Resume
    </Press>
  );
}
