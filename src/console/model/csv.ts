import type { Gains } from '../../core/units.js';
import type { RememberedStep } from '../../schemas/step.js';
import { type LoopChoice, loopOf } from './loop-choice.js';
import type { Model } from './model.js';
import type { PlotSettings } from './plot-window.js';
import { timesOf } from './step-curve.js';

export interface CsvFile {
  readonly name: string;
  readonly content: string;
}

/** A CSV file of the samples that a plot shows. */
export function telemetryFile(
  model: Model,
  choice: LoopChoice,
  { view, showsOutput, showsRetries }: PlotSettings,
): CsvFile {
  const { unit, loop } = choice;
  const { quantity, outputQuantity } = loopOf(choice);
  const [fromT, toT] = view.range;
  const { t, setpoint, measured, output, retries } = model.telemetry.buffer.read(unit, loop, fromT, toT);
  const inside = (_: unknown, index: number) => (t[index] ?? 0) >= fromT && (t[index] ?? 0) <= toT;
  const revision = model.status.value?.[unit].gains.revision ?? 0;
  const now = new Date().toISOString();
  const gains = gainsText(model.gains[unit].stored.value?.gains[loop]);
  const columns = {
    t_s: t.map(one => Number((one - view.zeroT).toFixed(4))).filter(inside),
    [`setpoint_${quantity}`]: setpoint.filter(inside),
    [`measured_${quantity}`]: measured.filter(inside),
    ...(showsOutput.value && { [`output_${outputQuantity}`]: output.filter(inside) }),
    ...(showsRetries.value && { bus_retries_per_s: retries.filter(inside) }),
  };
  return {
    name: `${unit}-${loop}-rev${revision}-${now.replace(/[:.]/g, '-').slice(0, 19)}.csv`,
    content: csv(columns, `${unit} ${loop}, revision ${revision}, ${gains}`, `t_s is seconds before ${now}`),
  };
}

/** A CSV file of the samples of a step. */
export function stepFile(choice: LoopChoice, step: RememberedStep): CsvFile {
  const { unit, loop } = choice;
  const { quantity } = loopOf(choice);
  const { setpoint, measured } = step.samples;
  const whose = step.revision === null ? 'trial' : `revision ${step.revision}`;
  const columns = {
    t_s: timesOf(measured, step.periodS),
    [`setpoint_${quantity}`]: setpoint,
    [`measured_${quantity}`]: measured,
  };
  return {
    name: `${unit}-${loop}-step-${step.number}-${whose.replace(' ', '-')}.csv`,
    content: csv(columns, `${unit} ${loop}`, whose, gainsText(step.gains), step.at),
  };
}

const gainsText = ({ kp, ki, kd }: Partial<Gains> = {}) => `kp ${kp} ki ${ki} kd ${kd}`;

/**
 * CSV as in RFC 4180. The texts of `about` come first, each in a line after `# `, and then the header. Unknown values
 * are empty cells.
 */
export function csv(
  columns: Readonly<Record<string, readonly (number | null)[]>>,
  ...about: string[]
): string {
  const values = Object.values(columns);
  const cell = (value: number | null | undefined) => (value == null ? '' : Number(value.toPrecision(9)));
  const rows = values[0]?.map((_, row) => values.map(column => cell(column[row])).join(',')) ?? [];
  return [...about.map(line => `# ${line}`), Object.keys(columns).join(','), ...rows, ''].join('\r\n');
}
