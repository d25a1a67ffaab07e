import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Source } from '../model/driving.js';
import { useModel } from '../parts/parts.js';
import { deflectionOf } from './driver-input.js';

interface StickProps {
  readonly source: Source;
  readonly label: string;
  /** The axes that the stick deflects to the left and upwards. */
  readonly left: string;
  readonly up: string;
  /** Why the stick moves nothing. Empty if it does. */
  readonly why: string;
}

/** A stick for one thumb. Letting go is zero, in whatever way the touch ends. */
export function Stick({ source, label, left, up, why }: StickProps) {
  const { driving } = useModel();
  const thumb = useSignal({ x: 0, y: 0 });
  const pointer = useRef<number | undefined>(undefined);
  const deflect = (x: number, y: number) => {
    thumb.value = { x, y };
    driving.ask(source, { [left]: -deflectionOf(x) || 0, [up]: -deflectionOf(y) || 0 });
  };
  const follow = ({ currentTarget, clientX, clientY }: PointerEvent) => {
    if (!(currentTarget instanceof Element)) return;
    const box = currentTarget.getBoundingClientRect();
    const x = (clientX - box.x) / (box.width / 2) - 1;
    const y = (clientY - box.y) / (box.height / 2) - 1;
    const far = Math.max(1, Math.hypot(x, y));
    deflect(x / far, y / far);
  };
  const release = () => {
    pointer.current = undefined;
    deflect(0, 0);
  };
  const end = ({ pointerId }: PointerEvent) => {
    if (pointerId === pointer.current) release();
  };
  useEffect(() => release, []);
  const { x, y } = thumb.value;
  return (
    <div
      class="stick"
      role="img"
      aria-label={why === '' ? label : `${label}: ${why}`}
      data-grey={why !== '' || undefined}
      onPointerDown={event => {
        if (pointer.current !== undefined || event.button !== 0) return;
        pointer.current = event.pointerId;
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={event => {
        if (event.pointerId === pointer.current) follow(event);
      }}
      onPointerUp={end}
      onPointerCancel={end}
      onLostPointerCapture={end}
    >
      <span class="thumb" style={{ translate: `${50 * x}% ${50 * y}%` }} />
      <span class="stick-label">{why || label}</span>
    </div>
  );
}
