import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Action } from '../model/action.js';
import { vibrate } from './vibrate.js';

const HOLD_MS = 400;

interface HoldButtonProps {
  readonly action: Action;
  readonly what: string;
  readonly run: () => void;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly children: ComponentChildren;
}

/** A button for acts that must not happen by a slip: it fills while it is held, and acts when it is full. */
export function HoldButton({ action, what, run, pressed, disabled, children }: HoldButtonProps) {
  const held = useSignal(false);
  const timer = useRef(0);
  const release = () => {
    clearTimeout(timer.current);
    held.value = false;
  };
  // A button that is disabled while it is held counts as let go.
  useEffect(() => {
    if (disabled) release();
  }, [disabled]);
  useEffect(() => release, []);
  const hold = () => {
    if (disabled || held.value) return;
    held.value = true;
    vibrate(10);
    timer.current = window.setTimeout(() => {
      held.value = false;
      vibrate(60);
      run();
    }, HOLD_MS);
  };
  const holds = (event: KeyboardEvent) => event.key === 'Enter' || event.key === ' ';
  return (
    <button
      type="button"
      class="hold"
      aria-pressed={pressed}
      aria-disabled={disabled || undefined}
      aria-busy={action.pending.value === what || undefined}
      data-held={held.value || undefined}
      style={{ '--hold': `${HOLD_MS}ms` }}
      onPointerDown={event => {
        const { currentTarget, pointerId } = event;
        // Else a finger that slides off is still taken for one on the button.
        if (currentTarget.hasPointerCapture(pointerId)) currentTarget.releasePointerCapture(pointerId);
        hold();
      }}
      onPointerUp={release}
      onPointerLeave={release}
      onPointerCancel={release}
      onContextMenu={event => event.preventDefault()}
      onKeyDown={event => {
        if (holds(event) && !event.repeat) hold();
      }}
      onKeyUp={release}
      onBlur={release}
    >
      {children}
      <small>hold</small>
    </button>
  );
}
