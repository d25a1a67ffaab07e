import type { RememberedStep } from '../../schemas/step.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { csv } from '../model/numbers.js';
import type { PlotSettings } from '../model/plot-window.js';
import { emptyColumns } from '../model/telemetry-buffer.js';
import { offerFile } from './parts.js';

/** Offers the samples that a plot shows as a file. */
export function saveTelemetry(model: Model, { unit, loop }: LoopChoice, settings: PlotSettings): void {
  const { view, showsOutput } = settings;
  const columns = emptyColumns();
  const [fromT, toT] = view.range;
  model.telemetry.buffer.read(unit, loop, fromT, toT, columns);
  const inside = (_: unknown, index: number) => {
    const t = columns.t[index] ?? Number.NaN;
    return t >= fromT && t <= toT;
  };
  const { quantity, outputQuantity } = loopOf({ unit, loop });
  const now = new Date().toISOString();
  const revision = model.status.value?.[unit].gains.revision ?? 0;
  const { kp, ki, kd } = model.gains[unit].stored.value?.gains[loop] ?? {};
  const output = { name: `output_${outputQuantity}`, values: columns.output.filter(inside) };
  const content = csv(
    [
      { name: 't_s', values: columns.t.filter(inside).map(t => Number((t - view.zeroT).toFixed(4))) },
      { name: `setpoint_${quantity}`, values: columns.setpoint.filter(inside) },
      { name: `measured_${quantity}`, values: columns.measured.filter(inside) },
      ...(showsOutput.value ? [output] : []),
    ],
    [
      `robot ${location.host}`,
      `${unit} ${loop}, revision ${revision}, kp ${kp} ki ${ki} kd ${kd}`,
      `t_s is seconds before ${now}`,
    ],
  );
  const time = now.replace(/[:.]/g, '-').slice(0, 19);
  offerFile(`${unit}-${loop}-rev${revision}-${time}.csv`, 'text/csv', content);
}

/** Offers a step as a file, with its loop and gains in the header. */
export function saveStep({ unit, loop }: LoopChoice, step: RememberedStep): void {
  const { quantity } = loopOf({ unit, loop });
  const { setpoint, measured } = step.samples;
  const { kp, ki, kd } = step.gains;
  const whose = step.revision === null ? 'trial' : `revision ${step.revision}`;
  const about = [`robot ${location.host}`, `${unit} ${loop}`, whose, `kp ${kp} ki ${ki} kd ${kd}`, step.at];
  const columns = [
    { name: 't_s', values: measured.map((_, index) => index * step.periodS) },
    { name: `setpoint_${quantity}`, values: setpoint },
    { name: `measured_${quantity}`, values: measured },
  ];
  const name = `${unit}-${loop}-step-${step.number}-${whose.replace(' ', '-')}.csv`;
  offerFile(name, 'text/csv', csv(columns, about));
}
