import { isReservedName } from '../access/token.js';
import { decodeTokens, tokenFile } from '../access/token-file.js';
import type { Case } from './case.js';
import { AS_ROOT, errorCode, type Found, fine, unknown, wrong } from './finding.js';

export async function tokens({ system, config }: Case): Promise<Found> {
  try {
    const list = decodeTokens(await system.readFile(tokenFile(config.state.folder)));
    if (list === undefined) return wrong('the list cannot be used', 'sudo trunnion token list says why');
    const reserved = list.map(({ name }) => name).filter(isReservedName);
    if (reserved.length === 0) return fine(`${list.length} in the list`);
    return wrong(
      `the log cannot tell callers without a token from ${reserved.join(', ')}`,
      'sudo trunnion token remove NAME, then sudo trunnion token add with another name',
    );
  } catch (error) {
    const code = errorCode(error);
    return code === 'ENOENT' ? fine('no list') : unknown(`the list cannot be read: ${code}`, AS_ROOT);
  }
}
