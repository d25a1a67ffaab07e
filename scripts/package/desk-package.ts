import { readFileSync } from 'node:fs';
import { deskProgram } from '../../src/desk/desk-program.js';
import { bundlePrograms } from './bundle.js';
import { put, putCommand, putCompletions, putManPage } from './layout.js';
import { type Shipped, shippedIn } from './supply.js';

const HOME = 'usr/lib/trunnion-desk';
/**
 * Keeps a desk with 20 robots and 4 pages below 100 MiB, together with the limit of the service. The other commands have
 * no such limit, because a record may be large.
 */
export const NODE_OPTION = '--max-semi-space-size=4';

/** The desk's package, as its control file describes it. */
export const DESK_DESCRIPTION = `one page on which a referee runs a field of Trunnion robots
 Locks 2 to 20 robots with one key, runs the clock of their matches, and keeps a
 record that can be verified. It needs no broker and no internet.
`;

/** Writes the programs and the system files of the desk's package. It has no addon and no service of a robot. */
export async function layOutDesk(root: string, manifest: object): Promise<readonly Shipped[]> {
  const { packages } = await bundlePrograms(
    {
      entries: ['src/desk/main'],
      page: { folder: 'dist/desk-page', source: 'src/desk/page/main.tsx' },
      natives: [],
    },
    `${root}/${HOME}`,
  );
  put(root, `${HOME}/package.json`, `${JSON.stringify(manifest)}\n`);
  putCommand(root, 'trunnion-desk', `/usr/bin/node ${NODE_OPTION} /${HOME}/dist/src/desk/main.js`);
  put(root, 'usr/lib/systemd/system/trunnion-desk.service', readFileSync('systemd/trunnion-desk.service'));
  put(
    root,
    'usr/lib/sysusers.d/trunnion-desk.conf',
    'u trunnion-desk - "Trunnion desk" /var/lib/trunnion-desk\n',
  );
  putCompletions(root, deskProgram);
  putManPage(root, 'trunnion-desk');
  return shippedIn(packages);
}
