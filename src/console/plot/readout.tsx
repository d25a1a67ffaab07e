import type { Loop } from '../../core/units.js';
import { fixed } from '../model/numbers.js';
import type { PlotSettings } from '../model/plot-window.js';
import { type Columns, SERIES } from '../model/telemetry-buffer.js';
import { useModel } from '../parts/parts.js';

interface ReadoutProps {
  readonly loop: Loop;
  readonly columns: Columns;
  readonly hovered: { readonly value: number | null };
  readonly settings: PlotSettings;
}

/** The values under the cursor or the newest, and what changed between two picked moments. */
export function Readout({ loop: { quantity, outputQuantity }, columns, hovered, settings }: ReadoutProps) {
  const model = useModel();
  model.telemetry.frame.value;
  settings.view.range;
  const index = hovered.value ?? columns.t.length - 1;
  const [setpoint, measured] = [columns.setpoint[index], columns.measured[index]];
  const error = setpoint == null || measured == null ? null : setpoint - measured;
  return (
    <div class="legend" data-output={settings.showsOutput.value || undefined}>
      {SERIES.map(series => (
        <span class={`key ${series}`} key={series}>
          {series}
          <span class="value" data-unit={series === 'output' ? outputQuantity : quantity}>
            {fixed(columns[series][index], 3)}
          </span>
        </span>
      ))}
      <span class="key error">
        error
        <span class="value" data-unit={quantity}>
          {fixed(error, 3)}
        </span>
      </span>
      <Between columns={columns} hovered={hovered.value} picks={settings.picks.value} unit={quantity} />
    </div>
  );
}

interface BetweenProps {
  readonly columns: Columns;
  readonly hovered: number | null;
  readonly picks: readonly number[];
  readonly unit: string;
}

/** Shows what lies between the first pick and the second, or the cursor. */
function Between({ columns, hovered, picks, unit }: BetweenProps) {
  const [fromT, toT = hovered === null ? undefined : columns.t[hovered]] = picks;
  if (fromT === undefined || toT === undefined) return null;
  const at = (t: number) => columns.measured[columns.t.findIndex(one => one >= t)];
  const [from, to] = [at(fromT), at(toT)];
  return (
    <span class="key delta">
      Δ {fixed(toT - fromT, 3)} s
      <span class="value" data-unit={unit}>
        {from == null || to == null ? '–' : fixed(to - from, 3)}
      </span>
    </span>
  );
}
