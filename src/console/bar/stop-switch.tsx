import { useModel } from '../parts/console.js';
import { Press } from '../parts/press.js';
import { vibrate } from '../parts/vibrate.js';

/** One press, or Escape from anywhere. */
export function StopButton() {
  const model = useModel();
  return (
    <Press
      busy={model.stop.isUnanswered}
      run={() => {
        vibrate([80, 40, 80]);
        model.pressStop();
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
  const model = useModel();
  const running = model.fresh.value && model.status.value?.stopped === false;
  return (
    <Press
      action={model.resuming}
      what="resume"
      run={() => model.resume()}
      class="resume"
      disabled={running || !model.may('resume')}
    >
      Resume
    </Press>
  );
}
