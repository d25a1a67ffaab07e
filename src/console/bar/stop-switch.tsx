import { useConsole } from '../parts/console.js';
import { Press } from '../parts/press.js';

/** One press, or Escape from anywhere. */
export function StopSwitch() {
  const { model } = useConsole();
  return (
    <fieldset class="group stopping" aria-label="Stop">
      <Press
        act={model.stopping}
        what="stop"
        run={() => model.stop()}
        class="stop"
        aria-keyshortcuts="Escape"
        data-key="Esc"
      >
        STOP
      </Press>
      <ResumeButton />
    </fieldset>
  );
}

export function ResumeButton() {
  const { model } = useConsole();
  const running = model.fresh.value && model.status.value?.stopped === false;
  return (
    <Press
      act={model.stopping}
      what="resume"
      run={() => model.resume()}
      class="resume"
      disabled={running || !model.may('resume')}
    >
      Resume
    </Press>
  );
}
