import { Drawer } from '../parts/drawer.js';

/** The daemon's log of events. */
export function LogPanel() {
  return (
    <section class="card log" aria-label="Log">
      <Drawer title={<h2>Log</h2>}>{({ EventList }) => <EventList />}</Drawer>
    </section>
  );
}
