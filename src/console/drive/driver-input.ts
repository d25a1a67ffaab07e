import { every } from '../../core/clock.js';
import { type Deflections, type Driving, isDeflected } from '../model/driving.js';
import type { Model } from '../model/model.js';

/** The keys by their place on the keyboard, with what they deflect. */
const KEYS: Readonly<Record<string, readonly [axis: string, deflection: number]>> = {
  KeyW: ['speed', 1],
  KeyS: ['speed', -1],
  KeyA: ['turn', 1],
  KeyD: ['turn', -1],
  ArrowUp: ['pitch', 1],
  ArrowDown: ['pitch', -1],
  ArrowLeft: ['yaw', 1],
  ArrowRight: ['yaw', -1],
};

const GAMEPAD_EVERY_MS = 20;
/** Worn sticks do not return to exactly 0. */
const DEAD = 0.15;
/** Buttons of the standard mapping: B, and the left and the right shoulder. */
const [B, LEFT, RIGHT] = [1, 4, 5];

/** A stick's value without its dead zone, from -1 to 1. */
export function deflectionOf(value: number): number {
  const beyond = (Math.abs(value) - DEAD) / (1 - DEAD);
  return beyond <= 0 ? 0 : Math.sign(value) * Math.min(1, beyond);
}

/** What a gamepad asks for. Its left stick drives and its right stick aims, while the left shoulder button is held. */
function gamepadState(pad: Pick<Gamepad, 'axes' | 'buttons'>) {
  const isDown = (button: number) => pad.buttons[button]?.pressed === true;
  const [turn = 0, speed = 0, yaw = 0, pitch = 0] = pad.axes.map(value => -deflectionOf(value));
  const deflections: Deflections = { speed, turn, yaw, pitch };
  const isEnabled = isDown(LEFT);
  return { deflections, isEnabled, isFast: isEnabled && isDown(RIGHT), stops: isDown(B) };
}

/**
 * Listens to keys, gamepads and the window. Driving ends when the window loses the focus or is hidden: key-ups and
 * releases would be lost.
 */
export function listenToDriver(model: Model): void {
  const { driving, clock } = model;
  listenToKeys(driving);
  every(clock, GAMEPAD_EVERY_MS, gamepadPoll(model));
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) driving.interrupt('This window was hidden: driving has stopped.');
  });
}

/** True if the element with the focus needs the key itself. A slider needs only the arrow keys. */
function takes(target: EventTarget | null, code: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.matches('[type=range]')) return code.startsWith('Arrow');
  return target.matches('input:not([type=checkbox]), select, textarea');
}

function listenToKeys(driving: Driving): void {
  const held = new Set<string>();
  const report = () => {
    const deflections: Record<string, number> = {};
    for (const code of held) {
      const [axis, deflection] = KEYS[code] ?? ['', 0];
      deflections[axis] = (deflections[axis] ?? 0) + deflection;
    }
    driving.ask('keys', deflections, { isHeld: held.size > 0 });
  };
  /** Some systems report no key-up while the command key is held, a menu is open or something is dragged. */
  const letGo = () => {
    held.clear();
    report();
  };
  window.addEventListener('keydown', event => {
    const { code, target, repeat } = event;
    if (event.metaKey) letGo();
    if (!(code in KEYS) || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (takes(target, code)) return;
    event.preventDefault();
    if (repeat || held.has(code)) return;
    held.add(code);
    report();
  });
  window.addEventListener('keyup', ({ code, key, metaKey }) => {
    if (metaKey || key === 'Meta') letGo();
    else if (held.delete(code)) report();
  });
  window.addEventListener('blur', () => {
    driving.interrupt('This window lost the focus: driving has stopped.');
    letGo();
  });
  for (const type of ['contextmenu', 'dragstart']) window.addEventListener(type, letGo);
}

/** Reads the gamepads. Each read reports the whole state of the pad. */
function gamepadPoll(model: Model): () => void {
  const { driving } = model;
  let before = NO_PAD;
  let used: number | null = null;
  /** The gamepads whose button B is down. */
  let stopping: readonly number[] = [];
  return () => {
    const all = navigator.getGamepads?.() ?? [];
    const pads = all.flatMap(one => (one?.connected && one.mapping === 'standard' ? [one] : []));
    const stops = pads.filter(one => gamepadState(one).stops).map(({ index }) => index);
    if (stops.some(index => !stopping.includes(index))) model.pressStop();
    stopping = stops;
    if (before.isEnabled && used !== null && !pads.some(({ index }) => index === used))
      driving.interrupt('The gamepad was gone: driving has stopped.');
    // The driver holds the shoulder button of one gamepad.
    const held = pads.filter(one => gamepadState(one).isEnabled);
    const pad = held.find(({ index }) => index === used) ?? held[0] ?? pads[0];
    // A browser gives a gamepad to every visible page. Only the one with the focus drives.
    const isUsed = pad !== undefined && document.hasFocus();
    // Sticks that are deflected when a gamepad or the focus appears must be let go first.
    const isNew = isUsed && pad.index !== used;
    used = isUsed ? pad.index : null;
    const state = isUsed ? gamepadState(pad) : NO_PAD;
    driving.hasGamepad.value = pad !== undefined;
    if ([state, before].some(({ isEnabled, deflections }) => isEnabled || isDeflected(deflections)))
      driving.ask('gamepad', state.deflections, { ...state, isEnabled: state.isEnabled && !isNew });
    before = state;
  };
}

const NO_PAD = gamepadState({ axes: [], buttons: [] });
