import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

interface DrawerProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Closed at first. Its content exists only while it is open. */
export function Drawer({ title, children }: DrawerProps) {
  const open = useSignal(false);
  return (
    <details
      onToggle={event => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {open.value && children}
    </details>
  );
}
