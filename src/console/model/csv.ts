import type { Gains, Loop } from '../../core/units.js';
import type { RememberedStep } from '../../schemas/step.js';
import { type LoopChoice, loopOf } from './loop-choice.js';
import type { Model } from './model.js';
import type { PlotSettings } from './plot-window.js';

export interface CsvFile {
  readonly name: string;
  readonly content: string;
}

/** The samples that a plot shows. */
export function telemetryFile(
  model: Model,
  choice: LoopChoice,
  { view, showsOutput }: PlotSettings,
): CsvFile {
  const { unit, loop } = choice;
  const [fromT, toT] = view.range;
  const { t, setpoint, measured, output } = model.telemetry.buffer.read(unit, loop, fromT, toT);
  const inside = (_: unknown, index: number) => (t[index] ?? 0) >= fromT && (t[index] ?? 0) <= toT;
  const revision = model.status.value?.[unit].gains.revision ?? 0;
  const now = new Date().toISOString();
  const gains = gainsText(model.gains[unit].stored.value?.gains[loop]);
  const about = [`${unit} ${loop}, revision ${revision}, ${gains}`, `t_s is seconds before ${now}`];
  const samples = {
    t: t.map(one => Number((one - view.zeroT).toFixed(4))).filter(inside),
    setpoint: setpoint.filter(inside),
    measured: measured.filter(inside),
    ...(showsOutput.value && { output: output.filter(inside) }),
  };
  const time = now.replace(/[:.]/g, '-').slice(0, 19);
  const name = `${unit}-${loop}-rev${revision}-${time}.csv`;
  return { name, content: csv(loopOf(choice), samples, about) };
}

/** The samples of a step. */
export function stepFile(choice: LoopChoice, step: RememberedStep): CsvFile {
  const { setpoint, measured } = step.samples;
  const whose = step.revision === null ? 'trial' : `revision ${step.revision}`;
  const samples = { t: measured.map((_, index) => index * step.periodS), setpoint, measured };
  const about = [`${choice.unit} ${choice.loop}`, whose, gainsText(step.gains), step.at];
  const name = `${choice.unit}-${choice.loop}-step-${step.number}-${whose.replace(' ', '-')}.csv`;
  return { name, content: csv(loopOf(choice), samples, about) };
}

const gainsText = ({ kp, ki, kd }: Partial<Gains> = {}) => `kp ${kp} ki ${ki} kd ${kd}`;

type Column = readonly (number | null)[];

interface Samples {
  readonly t: Column;
  readonly setpoint: Column;
  readonly measured: Column;
  readonly output?: Column;
}

const cell = (value: number | null | undefined) =>
  value === null || value === undefined ? '' : String(Number(value.toPrecision(9)));

/** RFC 4180 with a header after lines of `# about`. Unknown values are empty cells. */
export function csv(
  { quantity, outputQuantity }: Loop,
  { t, setpoint, measured, output }: Samples,
  about: readonly string[],
): string {
  const columns = [t, setpoint, measured, ...(output === undefined ? [] : [output])];
  const heads = ['t_s', `setpoint_${quantity}`, `measured_${quantity}`, `output_${outputQuantity}`];
  const lines = [
    ...about.map(line => `# ${line}`),
    heads.slice(0, columns.length).join(','),
    ...t.map((_, row) => columns.map(column => cell(column[row])).join(',')),
  ];
  return `${lines.join('\r\n')}\r\n`;
}
