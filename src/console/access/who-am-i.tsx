import { useModel } from '../parts/console.js';
import { Press } from '../parts/press.js';

/** The name of whoever is at this page, and the way out. */
export function WhoAmI() {
  const model = useModel();
  const session = model.access.session.value;
  if (model.status.value?.access.exposed) {
    return (
      <span
        class="badge open"
        title="Whoever reaches this port may drive and light: sudo trunnion token add closes it"
      >
        OPEN TO ALL
      </span>
    );
  }
  if (session?.name == null) return null;
  return (
    <span class="who">
      <span title={session.name}>
        {session.name} ({session.role})
      </span>
      <Press action={model.access.action} what="leave" run={() => model.leave()}>
        Leave
      </Press>
    </span>
  );
}
