import type { LoopCommand, LoopReading, UnitLoops } from '../../sim/firmware/unit-loops.js';
import type { Unit } from '../../src/core/units.js';

/** Loops whose readings a test sets. The measured value counts the ticks. */
export class ScriptedLoops implements UnitLoops {
  readonly readings: Readonly<Record<string, { -readonly [Part in keyof LoopReading]: LoopReading[Part] }>>;
  readonly axes = { scripted: true };
  readonly commands: LoopCommand[] = [];
  readonly pose: UnitLoops['pose'];
  edges = 0;
  targetVisible = false;
  /** Whether the measured value does not change. */
  isStill = false;
  resets = 0;
  drops = 0;
  /** The next tick counts as an edge, and shows this setpoint from then on. */
  nextSetpoint: number | undefined;

  constructor(unit: Unit) {
    this.readings = Object.fromEntries(
      unit.loops.map(loop => [loop.name, { setpoint: 0, measured: 0, output: 0 }]),
    );
    this.pose = unit.hasPose ? { xM: 1.5, yM: -2, headingRad: 0.25 } : undefined;
  }

  get last(): LoopCommand | undefined {
    return this.commands.at(-1);
  }

  tick(command: LoopCommand): void {
    this.commands.push(command);
    const reading = this.readings[command.excitation.loop];
    if (reading !== undefined && !this.isStill) reading.measured = this.commands.length / 1000;
    if (reading === undefined || this.nextSetpoint === undefined) return;
    reading.setpoint = this.nextSetpoint;
    this.nextSetpoint = undefined;
    this.edges += 1;
  }

  dropExcitation(): void {
    this.drops += 1;
  }

  reset(): void {
    this.resets += 1;
  }
}
