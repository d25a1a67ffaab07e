import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Act } from './act.js';

interface PressProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick'> {
  readonly act?: Act;
  /** Which of the act's requests this button makes. */
  readonly what: string;
  readonly run: () => unknown;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  /** Acts as soon as it is touched: a finger that stays, slides, or comes beside another makes no click. */
  readonly atTouch?: boolean;
  readonly children: ComponentChildren;
}

/** A button that shows its request as under way from the press on. Disabled, it keeps the focus that it has. */
export function Press({ act, what, run, pressed, disabled, atTouch, children, ...rest }: PressProps) {
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
        // Of a key the detail is 0.
        if (!disabled && !(hasRun.current && event.detail > 0)) run();
        hasRun.current = false;
      }}
      aria-disabled={disabled || undefined}
      aria-pressed={pressed}
      aria-busy={act?.pending.value === what || undefined}
    >
      {children}
    </button>
  );
}
