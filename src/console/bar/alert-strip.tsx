import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Press, Toggle, useModel } from '../parts/parts.js';
import { holdLines } from './held-lines.js';
import { ALL_WELL, stripLines, wellText } from './strip.js';

/**
 * The alert strip: all lines, the most urgent first. Its place is fixed, so that nothing else moves. A press unfolds
 * the lines over the page below.
 */
export function AlertStrip({ isForThumb = false }: { readonly isForThumb?: boolean }) {
  const model = useModel();
  const open = useSignal(false);
  const hold = useMemo(() => holdLines(model.clock), []);
  const lines = hold(stripLines(model, isForThumb));
  const well = wellText(model);
  const strip = useRef<HTMLElement>(null);
  const hasMore = useSignal(false);
  useEffect(() => {
    const look = () => {
      if (!open.peek())
        hasMore.value = [...(strip.current?.querySelectorAll('ul, .clamp') ?? [])].some(isCut);
    };
    look();
    window.addEventListener('resize', look);
    return () => window.removeEventListener('resize', look);
  });
  return (
    <section ref={strip} class="strip" aria-label="Alerts" data-open={open.value || undefined}>
      <div role="alert">
        <ul>
          {lines.map(({ tone, about, text, cure, answer }) => (
            <li data-tone={tone} key={about + (answer?.['aria-label'] ?? text)}>
              <span class="clamp">
                <strong>{about}</strong> {text} {cure}
              </span>
              {answer && <Press {...answer} />}
            </li>
          ))}
        </ul>
      </div>
      {lines.length === 0 ? (
        <p class="well state dim" data-state={well === ALL_WELL && 'good'} hidden={well === ''}>
          {well}
        </p>
      ) : (
        (open.value || hasMore.value) && (
          <Toggle
            text={open.value ? 'Fold' : lines.length === 1 ? 'More' : `All ${lines.length}`}
            on={open}
            opens
            class="fold"
          />
        )
      )}
    </section>
  );
}

const isCut = ({ scrollHeight, clientHeight }: Element) => scrollHeight > clientHeight + 1;
