import type { Clock } from '../core/clock.js';
import { QUANTITIES, type Unit } from '../core/units.js';
import type { Link, Urgency } from '../protocol/link.js';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../protocol/registers.js';
import type { ControllerStatus } from './motor-controller.js';
import type { StepCapture } from './robot-event.js';

/** Longest time to read one capture. It has about 40 pages, and everything else on the bus comes first. */
export const CAPTURE_MS = 1500;

/** Returns a function that reads the step capture if a status shows a new one. It rejects if the bus fails. */
export function stepCaptures(
  unit: Unit,
  clock: Clock,
  link: Link,
  stepCaptured: (capture: StepCapture) => void,
) {
  /**
   * The latest status. It names the newest step capture. Capture numbers restart with the controller, so boot
   * ids are compared as well.
   */
  let captured: ControllerStatus | undefined;
  return async (status: ControllerStatus): Promise<void> => {
    const before = captured;
    captured = status;
    if (before?.bootId !== status.bootId || before.capture === status.capture) return;
    const urgency: Urgency = { priority: 'capture', untilMs: clock.nowMs() + CAPTURE_MS };
    await link.write(unit, REGISTERS.capture_select, { page: 0 }, urgency);
    const head = await link.read(unit, REGISTERS.capture, urgency);
    const loop = unit.loops.find(candidate => candidate.slot === head.slot);
    if (loop === undefined) return;
    const register = capturePageRegister(QUANTITIES[loop.quantity].countsPerUnit);
    const setpoint: number[] = [];
    const measured: number[] = [];
    for (let page = 0; page * CAPTURE_PAGE_SAMPLES < head.samples; page += 1) {
      await link.write(unit, REGISTERS.capture_select, { page }, urgency);
      const values: Record<string, number> = await link.read(unit, register, urgency);
      // A newer capture has replaced this one.
      if (values.number !== head.number || values.page !== page) return;
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES && setpoint.length < head.samples; sample += 1) {
        setpoint.push(values[`setpoint_${sample}`] ?? 0);
        measured.push(values[`measured_${sample}`] ?? 0);
      }
    }
    const { number, rate_hz: rateHz, decimation } = head;
    stepCaptured({ unit: unit.name, loop: loop.name, number, rateHz, decimation, setpoint, measured });
  };
}
