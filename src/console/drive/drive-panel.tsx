import { UNIT_LIST } from '../../core/units.js';
import { isDeflected } from '../model/driving.js';
import { fixed } from '../model/numbers.js';
import { isReading } from '../model/telemetry.js';
import { isTouchScreen, Press, useModel } from '../parts/parts.js';
import { Stick } from './stick.js';

/** The two thumb sticks of the match view: the left one drives, the right one aims. */
export function Sticks() {
  const { access, driving } = useModel();
  if (!access.hasRight('drive')) return null;
  return (
    <div class="sticks">
      <Stick source="left stick" label="drive" left="turn" up="speed" why={driving.whyNot('chassis')} />
      <DriveState />
      <Stick source="right stick" label="aim" left="yaw" up="pitch" why={driving.whyNot('gimbal')} />
    </div>
  );
}

/** Driving by keys and gamepad, on the desk. */
export function DrivePanel() {
  const { driving } = useModel();
  const whys = UNIT_LIST.map(({ name, title }) => {
    const why = driving.whyNot(name);
    return why && `${title}: ${why}. `;
  }).join('');
  return (
    <section class="card drive" aria-label="Drive">
      <h2>Drive</h2>
      {isTouchScreen ? (
        <p>
          The thumb sticks are in the <a href="#match">match view</a>.
        </p>
      ) : (
        <p>
          <kbd>W</kbd> <kbd>A</kbd> <kbd>S</kbd> <kbd>D</kbd> drive while held. The arrow keys aim while held.
          In a field of the page they only edit it. The slider takes the arrow keys after it was moved.
        </p>
      )}
      <p class="why clamp dim">{whys}</p>
      <DriveState />
      {(!isTouchScreen || driving.hasGamepad.value) && (
        <p class="hint">{gamepadText(driving.hasGamepad.value)}</p>
      )}
    </section>
  );
}

/**
 * The limit, the speed, and how quickly the robot answers. The button that takes over from another driver appears where
 * nothing could be pressed.
 */
function DriveState() {
  const { driving, telemetry } = useModel();
  const speed = telemetry.shown?.chassis?.speed;
  const answer = isDeflected(driving.wanted.value) ? driving.commands.roundTripMs.value : undefined;
  return (
    <div class="drive-state">
      <label>
        Limit {Math.round(100 * driving.limit.value)} %
        <input
          type="range"
          min="5"
          max="100"
          step="5"
          value={100 * driving.limit.value}
          onInput={event => driving.setLimit(Number(event.currentTarget.value) / 100)}
        />
      </label>
      {driving.isRivalDriving ? (
        <Press text="Take over" needs="drive" holds run={() => driving.takeOver()} />
      ) : (
        <output>
          <span>{isReading(speed) ? fixed(speed.measured, 2) : '–'} m/s</span>{' '}
          <span>answer {answer ?? '–'} ms</span>
        </output>
      )}
    </div>
  );
}

function gamepadText(hasGamepad: boolean): string {
  if (hasGamepad)
    return 'Gamepad: hold the left shoulder button to drive, the right one as well for full speed. B stops the robot.';
  if (window.isSecureContext) return 'No gamepad: connect one and press a button of it.';
  return 'No gamepad: some browsers give gamepads to secure pages only. docs/page.md says what to do.';
}
