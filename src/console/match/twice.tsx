import { useSignal } from '@preact/signals';
import { Press, type PressProps, usePressRules, writes } from '../parts/parts.js';

const AGAIN_MS = 4000;

interface TwiceProps extends PressProps {
  /** False if one press is enough. */
  readonly asks?: boolean;
}

/** A button that may need a second press within AGAIN_MS. */
export function Twice({ asks = true, run, ...rest }: TwiceProps) {
  const { clock } = usePressRules().surroundings;
  const asked = useSignal(false);
  const press = () => {
    const mayAct = !asks || asked.value;
    asked.value = !mayAct;
    return mayAct ? run() : void clock.after(AGAIN_MS, writes(asked, false));
  };
  const isAsked = asks && asked.value;
  return <Press {...rest} run={press} {...(isAsked && { pressed: true, hint: 'press again' })} />;
}
