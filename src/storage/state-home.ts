import { homedir } from 'node:os';
import { join } from 'node:path';
import { valueOr } from '../core/errors.js';

/** A user who is not in the list of users has no home. */
const home = valueOr(homedir, '') || '/';

/** The folder in which the programs of a user keep their state. An empty variable counts as not set. */
export const STATE_HOME = process.env.XDG_STATE_HOME || join(home, '.local', 'state');
