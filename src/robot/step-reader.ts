import { QUANTITIES } from '../core/units.js';
import type { Urgency } from '../protocol/link.js';
import { CAPTURE_PAGE_SAMPLES, capturePageRegister, REGISTERS } from '../protocol/registers.js';
import type { ControllerStatus } from './motor-controller.js';
import type { UnitParts } from './reconciler.js';

/** Longest time to read one capture. It has about 40 pages, and everything else on the bus comes first. */
const CAPTURE_MS = 1500;

/** Reads each new step capture of a controller once. */
export class StepReader {
  readonly #parts: UnitParts;
  /**
   * The latest capture that the status showed. Capture numbers restart with the controller, so the boot id is part of
   * this.
   */
  #known: { readonly bootId: number; readonly number: number } | undefined;

  constructor(parts: UnitParts) {
    this.#parts = parts;
  }

  /** Reads the capture if the status shows a new one. Rejects as the bus does. */
  async read({ bootId, capture: number }: ControllerStatus): Promise<void> {
    const isNew = this.#known?.bootId === bootId && this.#known.number !== number;
    this.#known = { bootId, number };
    if (isNew) await this.#capture();
  }

  async #capture(): Promise<void> {
    const { unit, link, clock, stepCaptured } = this.#parts;
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
      // A newer capture replaced it.
      if (values.number !== head.number || values.page !== page) return;
      for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES && setpoint.length < head.samples; sample += 1) {
        setpoint.push(values[`setpoint_${sample}`] ?? 0);
        measured.push(values[`measured_${sample}`] ?? 0);
      }
    }
    const { number, rate_hz: rateHz, decimation } = head;
    stepCaptured({ unit: unit.name, loop: loop.name, number, rateHz, decimation, setpoint, measured });
  }
}
