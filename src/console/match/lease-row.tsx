import { useSignal } from '@preact/signals';
import { PLAY } from '../../core/phases.js';
import type { MatchStatus } from '../../schemas/match.js';
import { fixed } from '../model/numbers.js';
import { Press, useEvery, useModel } from '../parts/parts.js';

const LOOK_MS = 1000;

/** The desk that has the lease, the age of its last beat, and one button that takes or releases the lease. */
export function LeaseRow({ match: { lease, phase } }: { readonly match: MatchStatus }) {
  const { referee, surroundings } = useModel();
  const { clock } = surroundings;
  const nowMs = useSignal(clock.nowMs());
  useEvery(200, () => {
    nowMs.value = clock.nowMs();
  });
  useEvery(LOOK_MS, () => referee.look(), lease !== null && !lease.expired);
  const isSilent = referee.isSilent(nowMs.value);
  const ageS = Math.max(0, nowMs.value - (referee.beatMs.value ?? 0)) / 1000;
  const beat = referee.beatMs.value === undefined ? '' : ` Last beat ${fixed(ageS, 1)} s ago.`;
  const text = isSilent
    ? `THIS PAGE IS SILENT.${beat} Check its network, or take the lease on another device.`
    : referee.isBeating
      ? `This page has the lease.${beat}`
      : `${leaseText(lease, referee.holder)}${beat} Play needs the lease.`;
  const isPlaying = PLAY.includes(phase);
  return (
    <div class="row lease">
      <span
        class="state dim"
        data-state={isSilent ? 'bad' : referee.isBeating ? 'good' : 'doing'}
        role="status"
      >
        {text}
      </span>
      {referee.isBeating ? (
        <Press
          run={() => referee.release()}
          holds
          disabled={isPlaying}
          hint={isPlaying ? 'not during play' : ''}
          title="This page stops sending beats"
        >
          Release
        </Press>
      ) : (
        <Press class="primary" run={() => referee.take()}>
          {referee.isHeld.value ? 'Take it over' : 'Take the lease'}
        </Press>
      )}
    </div>
  );
}

function leaseText(lease: MatchStatus['lease'], ownHolder: string): string {
  if (lease === null || lease.expired) return 'No desk has the lease.';
  const { holder, by } = lease;
  if (holder === ownHolder) return 'This page had the lease.';
  return `${holder === by ? by : `${holder} (${by})`} has the lease.`;
}
