import { csv } from '../model/csv.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { emptyColumns } from '../model/telemetry-buffer.js';
import { offerFile } from '../parts/offer-file.js';
import type { PlotSettings } from './plot-settings.js';

/** Offers what a plot shows as a file, without samples beyond its edges and with lines that say what it is. */
export function saveTelemetry(
  model: Model,
  { unit, loop }: LoopChoice,
  { view, showsOutput }: PlotSettings,
): void {
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
  const content = csv(
    [
      { name: 't_s', values: columns.t.filter(inside).map(t => Number((t - view.zeroT).toFixed(4))) },
      { name: `setpoint_${quantity}`, values: columns.setpoint.filter(inside) },
      { name: `measured_${quantity}`, values: columns.measured.filter(inside) },
      ...(showsOutput.value
        ? [{ name: `output_${outputQuantity}`, values: columns.output.filter(inside) }]
        : []),
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
