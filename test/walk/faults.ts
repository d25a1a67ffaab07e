import type { FaultBody } from '../../sim/bus/faults.js';
import { UNIT_LIST } from '../../src/core/units.js';
import type { Shared } from './daemons.js';
import { type DiskWeather, FAIR } from './walk-disk.js';

/** Faults of robot and disk, of which the model is told. */
export class Faults {
  readonly #shared: Shared;
  /** True if a daemon runs that does not listen yet. */
  readonly #isStarting: () => boolean;

  constructor(shared: Shared, isStarting: () => boolean) {
    this.#shared = shared;
    this.#isStarting = isStarting;
  }

  inject(fault: FaultBody): void {
    const { model, robot } = this.#shared;
    const nowMs = this.#nowMs;
    model.trouble(nowMs);
    if (fault.target === 'pin') model.light.pin(fault.fault !== 'clear', nowMs);
    else if (fault.fault === 'clear' && fault.target === 'bus') model.light.pin(false, nowMs);
    else if (fault.fault === 'brownout' && fault.target !== 'bus') model.reset(fault.target, nowMs);
    for (const { name } of UNIT_LIST) {
      if (fault.target !== name && fault.target !== 'bus') continue;
      if (fault.fault === 'plug' || fault.fault === 'clear') model.plugged(name, true, nowMs);
      if (fault.fault === 'unplug') model.plugged(name, fault.count !== undefined, nowMs);
    }
    robot.inject(fault);
  }

  loseAnswers(count: number): void {
    const { model, robot } = this.#shared;
    robot.wire.lostAnswers = count;
    model.trouble(this.#nowMs);
  }

  disk(weather: DiskWeather): void {
    const { model } = this.#shared;
    this.#weather(weather);
    model.stop.diskFails();
    model.trouble(this.#nowMs);
  }

  interlock(closed: boolean): void {
    const { model, robot } = this.#shared;
    if (robot.isInterlockClosed !== closed) model.interlock(closed);
    robot.isInterlockClosed = closed;
  }

  /** Ends every fault. */
  clear(): void {
    const { model, robot } = this.#shared;
    robot.clear();
    this.#weather(FAIR);
    this.interlock(true);
    for (const { name } of UNIT_LIST) model.plugged(name, true, this.#nowMs);
    model.light.pin(false, this.#nowMs);
    model.calm(this.#nowMs);
  }

  #weather(weather: DiskWeather): void {
    const { model, disk } = this.#shared;
    if (weather === disk.weather) return;
    disk.weather = weather;
    model.access.disk(disk.isUnreadable, this.#nowMs);
    if (disk.isUnreadable && this.#isStarting()) model.unread();
  }

  get #nowMs(): number {
    return this.#shared.clock.nowMs();
  }
}
