import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentProps } from 'preact';
import { Later } from './later.js';

interface DrawerProps {
  readonly title: ComponentChildren;
  readonly children: ComponentProps<typeof Later>['children'];
}

/** Shut at first; what is in it is fetched and made when it is opened. */
export function Drawer({ title, children }: DrawerProps) {
  const open = useSignal(false);
  return (
    <details
      onToggle={event => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {open.value && <Later>{children}</Later>}
    </details>
  );
}
