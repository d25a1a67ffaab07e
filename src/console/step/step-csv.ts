import { csv } from '../model/csv.js';
import { loopOf } from '../model/loop-choice.js';
import type { StepPair } from '../model/step-memory.js';
import { offerFile } from '../parts/offer-file.js';

/** The newest step as a file that says whose it is. */
export function saveStep({ current: { step, gains, revision } }: StepPair): void {
  const { quantity } = loopOf(step);
  const { setpoint, measured } = step.samples;
  const name = `${step.unit}-${step.loop}-step-${step.number}-rev${revision}`;
  const { kp, ki, kd } = gains;
  const about = [`${step.unit} ${step.loop}`, `revision ${revision}`, `kp ${kp} ki ${ki} kd ${kd}`];
  const columns = [
    { name: 't_s', values: measured.map((_, index) => index * step.periodS) },
    { name: `setpoint_${quantity}`, values: setpoint },
    { name: `measured_${quantity}`, values: measured },
  ];
  offerFile(`${name}.csv`, 'text/csv', csv(columns, [...about, new Date().toISOString()]));
}
