import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Press, Toggle, useModel } from '../parts/parts.js';
import type { Line } from './lines.js';
import { stripLines, wellText } from './strip.js';

/**
 * All complaints. The most urgent one is always visible, in a place of its own: nothing moves and nothing is covered. A press
 * unfolds the others over the page below.
 */
export function AlertStrip({ isForThumb = false }: { readonly isForThumb?: boolean }) {
  const model = useModel();
  const open = useSignal(false);
  const isCut = useSignal(false);
  const list = useRef<HTMLUListElement>(null);
  const lines = stripLines(model, isForThumb);
  const others = lines.slice(1);
  const folds = lines.length > 0 && (others.length > 0 || isCut.value || open.value);
  const measure = () => {
    const text = list.current?.querySelector('li span');
    isCut.value = !!text && text.scrollHeight > text.clientHeight + 2;
  };
  useEffect(measure);
  useEffect(() => {
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  return (
    <div class="strip" data-open={open.value || undefined} data-folds={folds || undefined}>
      <div role="alert">
        <ul ref={list}>
          {lines.map(({ tone, about, text, answer }) => (
            <li data-tone={tone} key={about + (answer?.name ?? text)}>
              <span>
                <strong>{about}</strong> {text}
              </span>
              {answer && (
                <Press
                  action={answer.action}
                  what={answer.what ?? ''}
                  run={answer.run}
                  disabled={answer.disabled}
                  aria-label={answer.name}
                >
                  {answer.label}
                </Press>
              )}
            </li>
          ))}
        </ul>
      </div>
      {lines.length === 0 && <p class="well">{wellText(model)}</p>}
      {folds && (
        <Toggle on={open} opens class="fold" data-tone={others[0]?.tone}>
          {open.value ? 'Fold' : others.length > 0 ? `${others.length} more` : 'More'}
          {!open.value && others.length > 0 && <small>{subjectsOf(others)}</small>}
        </Toggle>
      )}
    </div>
  );
}

/** What the lines are about, each thing once. */
function subjectsOf(lines: readonly Line[]): string {
  return [...new Set(lines.map(({ about }) => about.replace(/[:.]$/, '')))].join(', ');
}
