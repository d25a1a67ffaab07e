import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import type { Act } from './act.js';

interface PressProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'onClick'> {
  readonly act?: Act;
  /** Which of the act's requests this button makes. */
  readonly what: string;
  readonly run: () => unknown;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

/** A button that shows its request as under way from the press on. Disabled, it keeps the focus that it has. */
export function Press({ act, what, run, pressed, disabled, children, ...rest }: PressProps) {
  return (
    <button
      type="button"
      {...rest}
      onClick={() => disabled || run()}
      aria-disabled={disabled || undefined}
      aria-pressed={pressed}
      aria-busy={act?.pending.value === what || undefined}
    >
      {children}
    </button>
  );
}
