import { hashOf, newSecret } from '../src/access/token.js';
import { writeTokens } from '../src/access/token-file.js';
import { realDisk } from '../src/storage/disk.js';

/** Makes the state folder of a simulated robot, with a token for a desk and one for a driver. */
export async function newFieldState(folder: string) {
  const [token, driver] = [newSecret(), newSecret()];
  await realDisk.makeFolder(folder);
  await writeTokens(realDisk, folder, [
    { name: 'desk', role: 'referee', hash: hashOf(token) },
    { name: 'driver', role: 'operator', hash: hashOf(driver) },
  ]);
  return { token, driver };
}
