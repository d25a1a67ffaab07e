import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Action } from '../model/action.js';

interface PressProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick'> {
  readonly action?: Action | undefined;
  /** Which of the action's requests this button makes. */
  readonly what?: string;
  /** Without an action: whether the request is under way. */
  readonly busy?: boolean;
  readonly run: () => unknown;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  /** Acts as soon as it is touched: a finger that stays, slides, or comes beside another makes no click. */
  readonly atTouch?: boolean;
  readonly children: ComponentChildren;
}

/** A button that shows from the press on that its request is under way. It keeps the focus when it is disabled. */
export function Press(props: PressProps) {
  const { action, what, busy, run, pressed, disabled, atTouch, children, ...rest } = props;
  /** It acted when it was touched, and the click of that touch may still come. */
  const hasRun = useRef(false);
  return (
    <button
      type="button"
      {...rest}
      onPointerDown={event => {
        hasRun.current = atTouch === true && event.button === 0;
        if (hasRun.current) run();
      }}
      onClick={event => {
        // The detail of a key's click is 0.
        if (!disabled && !(hasRun.current && event.detail > 0)) run();
        hasRun.current = false;
      }}
      aria-disabled={disabled || undefined}
      aria-pressed={pressed}
      aria-busy={busy || (action !== undefined && action.pending.value === what) || undefined}
    >
      {children}
    </button>
  );
}
