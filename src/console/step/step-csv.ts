import type { RememberedStep } from '../../schemas/step.js';
import { csv } from '../model/csv.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import { offerFile } from '../parts/offer-file.js';

/** A step as a file that says whose it is. */
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
