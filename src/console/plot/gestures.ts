import type uPlot from 'uplot';

export interface GestureHandlers {
  /** Around the time `t`; a factor below 1 goes closer. */
  readonly onZoom: (t: number, factor: number) => void;
  /** A click or a tap that was no drag, at the time `t`. */
  readonly onPick: (t: number) => void;
  readonly onReset: () => void;
}

const WHEEL_FACTOR = 1.2;
const SLIP_PX = 5;

/** Wheel and pinch zoom, a press picks a moment, a double press goes back; no value stays under a finger that has left. */
export function listenToGestures(chart: uPlot, { onZoom, onPick, onReset }: GestureHandlers): void {
  const { over } = chart;
  const fingers = new Map<number, number>();
  const xOf = (event: MouseEvent) => event.clientX - over.getBoundingClientRect().left;
  const spread = () => {
    const [one = 0, other = 0] = [...fingers.values()];
    return { middle: (one + other) / 2, width: Math.max(10, Math.abs(one - other)) };
  };
  let pressedX = Number.NaN;
  let byTouch = false;
  const forgetCursor = () => chart.setCursor({ left: -10, top: -10 });

  over.addEventListener(
    'wheel',
    event => {
      event.preventDefault();
      onZoom(chart.posToVal(xOf(event), 'x'), event.deltaY < 0 ? 1 / WHEEL_FACTOR : WHEEL_FACTOR);
    },
    { passive: false },
  );
  over.addEventListener('pointerdown', event => {
    pressedX = xOf(event);
    byTouch = event.pointerType === 'touch';
    if (byTouch) fingers.set(event.pointerId, pressedX);
  });
  over.addEventListener('pointermove', event => {
    if (!fingers.has(event.pointerId)) return;
    const before = spread();
    fingers.set(event.pointerId, xOf(event));
    if (fingers.size !== 2) return;
    pressedX = Number.NaN;
    const after = spread();
    onZoom(chart.posToVal(after.middle, 'x'), before.width / after.width);
  });
  over.addEventListener('click', event => {
    if (Math.abs(xOf(event) - pressedX) <= SLIP_PX) onPick(chart.posToVal(xOf(event), 'x'));
    // After a tap come mouse events of the browser's own making; the click is the last of them.
    if (byTouch) forgetCursor();
  });
  over.addEventListener('dblclick', onReset);
  const leave = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    if (event.pointerType === 'touch') forgetCursor();
  };
  over.addEventListener('pointerup', leave);
  over.addEventListener('pointercancel', leave);
}
