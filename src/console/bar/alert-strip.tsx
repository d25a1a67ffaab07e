import { useSignal } from '@preact/signals';
import { Press, Toggle, useModel } from '../parts/parts.js';
import { ALL_WELL, stripLines, wellText } from './strip.js';

/**
 * The alert strip: all lines, the most urgent first. Its place is fixed, so that nothing else moves. A press unfolds
 * the lines over the page below.
 */
export function AlertStrip({ isForThumb = false }: { readonly isForThumb?: boolean }) {
  const model = useModel();
  const open = useSignal(false);
  const lines = stripLines(model, isForThumb);
  const well = wellText(model);
  return (
    <section class="strip" aria-label="Alerts" data-open={open.value || undefined}>
      <div role="alert">
        <ul>
          {lines.map(({ tone, about, text, answer }) => (
            <li data-tone={tone} key={about + (answer?.name ?? text)}>
              <span class="clamp">
                <strong>{about}</strong> {text}
              </span>
              {answer && (
                <Press run={answer.run} disabled={answer.disabled} aria-label={answer.name}>
                  {answer.label}
                </Press>
              )}
            </li>
          ))}
        </ul>
      </div>
      {lines.length === 0 ? (
        <p class="well state dim" data-state={well === ALL_WELL && 'good'} hidden={well === ''}>
          {well}
        </p>
      ) : (
        <Toggle on={open} opens class="fold">
          {open.value ? 'Fold' : lines.length === 1 ? 'More' : `All ${lines.length}`}
        </Toggle>
      )}
    </section>
  );
}
