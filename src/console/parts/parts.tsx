import { type Signal, useSignal } from '@preact/signals';
import {
  type ButtonHTMLAttributes,
  type ComponentChild,
  type ComponentChildren,
  type Context,
  createContext,
} from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { every } from '../../core/clock.js';
import { isUnanswered, type Outcome as RequestOutcome } from '../daemon/request.js';
import { Action, refusalText } from '../model/action.js';
import type { CsvFile } from '../model/csv.js';
import type { Model, Operation } from '../model/model.js';

export const ModelContext = createContext<Model | undefined>(undefined);

/** What a button asks of the page that it is on. */
type PressRules = Pick<Model, 'mayMove' | 'may' | 'hasRightTo'> & {
  readonly surroundings: Pick<Model['surroundings'], 'clock'>;
};

export const PressContext = createContext<PressRules | undefined>(undefined);

function useGiven<T>(context: Context<T | undefined>): T {
  const given = useContext(context);
  if (given === undefined) throw new TypeError('used outside of the page');
  return given;
}

export const useModel = () => useGiven(ModelContext);
export const usePressRules = () => useGiven(PressContext);

/** An action that belongs to one component. */
export function useAction(): Action {
  const { clock } = useModel();
  return useMemo(() => new Action(clock), []);
}

/** Calls `act` at this interval while the component is shown and `isOn`. */
export function useEvery(periodMs: number, act: () => unknown, isOn = true): void {
  const { clock } = useModel();
  useEffect(() => (isOn ? every(clock, periodMs, act) : undefined), [isOn]);
}

const ASK_AGAIN_MS = 2000;

/** The latest answer to a question. It is asked again when something in `about` changes, and while no answer comes. */
export function useAnswer<T>(ask: () => Promise<RequestOutcome<T>>, about: readonly unknown[]) {
  const answer = useSignal<T | undefined>(undefined);
  const attempts = useSignal(0);
  const asksAgain = useSignal(false);
  const action = useAction();
  useEvery(ASK_AGAIN_MS, () => attempts.value++, asksAgain.value);
  useEffect(() => {
    let isOver = false;
    void action.run(async () => {
      const outcome = await ask();
      if (isOver) return outcome;
      answer.value = 'body' in outcome ? outcome.body : undefined;
      asksAgain.value = isUnanswered(outcome);
      return outcome;
    });
    return () => {
      isOver = true;
    };
  }, [...about, attempts.value]);
  return { answer: answer.value, action };
}

export interface PressProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick'> {
  /** The act of this button. While the act is pending, the button shows that. */
  readonly run: () => unknown;
  /** True if the button's act is pending for another reason, such as a key. */
  readonly busy?: boolean;
  /**
   * The act that rights and match must allow. Without the right there is no button. While the match forbids
   * the act, the button is grey.
   */
  readonly needs?: Operation;
  /**
   * True if the button moves or lights something. It is then grey while the robot is stopped or the page has no
   * contact, and must be held on a touch screen.
   */
  readonly moves?: boolean;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  /**
   * True if the button acts as soon as it is touched. A finger that stays, slides, or touches beside another
   * one makes no click.
   */
  readonly atTouch?: boolean;
  /** True if the button must be held on a touch screen, so that an accidental touch does nothing. */
  readonly holds?: boolean;
  readonly text: string;
  /**
   * What the press depends on beside `text`, such as the id of a lock or the state of a switch. If that changes during a
   * press, the press does nothing.
   */
  readonly about?: string | undefined;
  /** Small text on the button, such as why it is grey. */
  readonly hint?: string;
}

/**
 * A button that shows at once that its request is under way. It keeps the focus when it is disabled. A press does what the
 * button said when the pointer or key went down. If the button says something else when they go up, the press does nothing.
 */
export function Press(props: PressProps) {
  const { run, busy, needs, moves, pressed, disabled: isGrey, atTouch, holds, ...shown } = props;
  const { text, about, hint, ...rest } = shown;
  const model = usePressRules();
  const pending = useSignal(0);
  const disabled = isGrey || (moves && !model.mayMove) || (needs && !model.may(needs));
  const isHeld = isTouchScreen && (holds || moves);
  const act = async () => {
    pending.value += 1;
    try {
      await run();
    } finally {
      pending.value -= 1;
    }
  };
  const says = [text, about, moves, holds, !disabled].join();
  const hold = useHold(act, disabled, says);
  /** What the button said when the pointer went down on it, and when Space did. Empty if it has acted on that. */
  const [pointed, keyed] = [useRef<string | undefined>(undefined), useRef<string | undefined>(undefined)];
  const presses = {
    onPointerDownCapture: ({ button }: PointerEvent) => {
      const acts = atTouch && !isHeld && !disabled && button === 0;
      pointed.current = acts ? '' : says;
      if (acts) void act();
    },
    onKeyDownCapture: ({ key, repeat }: KeyboardEvent) => {
      if (key === ' ' && !repeat) keyed.current = says;
    },
    onBlurCapture: () => {
      keyed.current = undefined;
    },
    onClick: (event: MouseEvent) => {
      // Enter in a field clicks the submit button of its form. Sending the form would reload the page.
      event.preventDefault();
      // A click by a key or by a program has detail 0.
      const began = event.detail > 0 ? pointed : keyed;
      if (!isHeld && !disabled && (began.current ?? says) === says) void act();
      began.current = undefined;
    },
  };
  if (needs && !model.hasRightTo(needs)) return null;
  return (
    <button
      type="button"
      {...rest}
      {...presses}
      {...(isHeld && { ...hold, class: `hold ${rest.class ?? ''}` })}
      aria-disabled={disabled || undefined}
      aria-pressed={pressed}
      aria-busy={busy || pending.value > 0 || undefined}
    >
      {text}
      {(hint || isHeld) && <small>{hint || (isHeld && hold['data-tapped'] ? 'hold it' : 'hold')}</small>}
    </button>
  );
}

/** On a touch screen, an accidental touch must not move or light anything. */
export const isTouchScreen = matchMedia('(hover: none)').matches;

const HOLD_MS = 400;
/** After a short tap, the button says for this long that it wants to be held. */
const TAPPED_MS = 2000;

/** Makes a button act only after it was held. It fills while it is held. If what it says changes, it counts as released. */
function useHold(act: () => unknown, disabled: boolean | undefined, says: string) {
  const held = useSignal(false);
  /** The button was let go too early. */
  const tapped = useSignal(false);
  const timer = useRef(0);
  const release = () => {
    clearTimeout(timer.current);
    held.value = false;
  };
  const letGo = () => {
    if (held.value) {
      tapped.value = true;
      setTimeout(writes(tapped, false), TAPPED_MS);
    }
    release();
  };
  useLayoutEffect(() => release, [says]);
  const hold = () => {
    if (disabled || held.value) return;
    held.value = true;
    vibrate(10);
    timer.current = window.setTimeout(() => {
      held.value = false;
      vibrate(60);
      void act();
    }, HOLD_MS);
  };
  return {
    'data-held': held.value || undefined,
    'data-tapped': tapped.value || undefined,
    style: { '--hold': `${HOLD_MS}ms` },
    onPointerDown: ({ currentTarget, pointerId }: PointerEvent) => {
      // Ends the capture of the pointer. Otherwise a finger that slides off would still count as being on the
      // button.
      if (currentTarget instanceof Element && currentTarget.hasPointerCapture(pointerId))
        currentTarget.releasePointerCapture(pointerId);
      hold();
    },
    onPointerUp: letGo,
    onPointerLeave: release,
    onPointerCancel: release,
    onContextMenu: (event: Event) => event.preventDefault(),
    onKeyDown: ({ key, repeat }: KeyboardEvent) => {
      if ((key === 'Enter' || key === ' ') && !repeat) hold();
    },
    onKeyUp: letGo,
    onBlur: release,
  };
}

/** Vibrates. Does nothing on devices that cannot. */
export function vibrate(pattern: number | number[]): void {
  if ('vibrate' in navigator) navigator.vibrate(pattern);
}

interface ToggleProps extends Omit<PressProps, 'run' | 'pressed'> {
  readonly on: Signal<boolean>;
  /** True if the button opens something, instead of staying pressed. */
  readonly opens?: boolean;
}

/** A button that switches something on and off. */
export function Toggle({ on, opens = false, ...rest }: ToggleProps) {
  const state = opens ? { 'aria-expanded': on.value } : { pressed: on.value };
  return <Press {...rest} {...state} about={String(on.value)} run={writes(on, !on.value)} />;
}

interface SegmentsProps<T extends string | number> {
  readonly options: readonly T[];
  readonly chosen: Signal<T>;
  /** By default the choice is only written to the signal. */
  readonly onChoose?: (option: T) => void;
  readonly unit?: string;
}

/** Buttons side by side. One of them is chosen. */
export function Segments<T extends string | number>(props: SegmentsProps<T>) {
  const { options, chosen, unit = '' } = props;
  const { onChoose = (option: T) => write(chosen, option) } = props;
  return (
    <div class="segments">
      {options.map(option => (
        <Press
          text={`${option}${unit}`}
          key={option}
          pressed={option === chosen.value}
          run={() => onChoose(option)}
        />
      ))}
    </div>
  );
}

/** The result of an action, beside its buttons. */
export function Outcome({ action }: { readonly action: Action }) {
  const refusal = action.refusal.value;
  return (
    <p class={refusal ? 'outcome refusal' : 'outcome'} role={refusal ? 'alert' : 'status'}>
      {refusal ? refusalText(refusal) : action.done.value}
    </p>
  );
}

/** Attributes that let the keyboard scroll an element. */
export const scrolls = { tabIndex: 0 } as const;

export function write<T>(to: { value: T }, value: T): void {
  to.value = value;
}

/** Makes a function that writes this value to the signal. */
export function writes<T>(to: { value: T }, value: T): () => void {
  return () => write(to, value);
}

/** The attributes of a text field that shows and writes this signal. */
export function typed(text: { value: string | undefined }) {
  return {
    type: 'text' as const,
    value: text.value,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      write(text, currentTarget.value),
  };
}

/** The heads of a table's columns; empty for a column of buttons. */
export function Heads({ texts }: { readonly texts: readonly ComponentChild[] }) {
  return (
    <thead>
      <tr>{texts.map(text => (text === '' ? <td /> : <th scope="col">{text}</th>))}</tr>
    </thead>
  );
}

/** A section that is closed at first. Its content exists only while it is open. */
export function Drawer({ title, children }: Record<'title' | 'children', ComponentChildren>) {
  const open = useSignal(false);
  return (
    <details onToggle={event => write(open, event.currentTarget.open)}>
      <summary>{title}</summary>
      {open.value && children}
    </details>
  );
}

export function offerJson(name: string, value: unknown): void {
  offerFile(name, 'application/json', `${JSON.stringify(value, null, 2)}\n`);
}

export function offerCsv({ name, content }: CsvFile): void {
  offerFile(name, 'text/csv', `# robot ${location.host}\r\n${content}`);
}

/** Lets the person save a file. */
export function offerFile(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
