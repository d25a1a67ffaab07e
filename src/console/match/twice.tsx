import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Timer } from '../../core/clock.js';
import { Press, type PressProps, usePressRules, writes } from '../parts/parts.js';

const AGAIN_MS = 4000;

interface TwiceProps extends PressProps {
  /** False if one press is enough. */
  readonly asks?: boolean;
}

/** A button that may need a second press within AGAIN_MS. If `about` changes, two new presses are needed. */
export function Twice({ asks = true, about, run, ...rest }: TwiceProps) {
  const { clock } = usePressRules().surroundings;
  const meant = about ?? rest.text;
  const asked = useSignal<string | undefined>(undefined);
  const isAsked = asks && asked.value === meant;
  const timer = useRef<Timer | undefined>(undefined);
  const press = () => {
    timer.current?.cancel();
    asked.value = asks && !isAsked ? meant : undefined;
    if (asked.value === undefined) return run();
    timer.current = clock.after(AGAIN_MS, writes(asked, undefined));
    return undefined;
  };
  return (
    <Press
      {...rest}
      about={`${asks} ${meant}`}
      run={press}
      {...(isAsked && { pressed: true, hint: 'press again' })}
    />
  );
}
