import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder in which the programs of a user keep their state. An empty variable counts as not set. */
export const STATE_HOME = process.env.XDG_STATE_HOME || join(homeFolder(), '.local', 'state');

function homeFolder(): string {
  try {
    return homedir() || '/';
  } catch {
    // A user who is not in the list of users has no home.
    return '/';
  }
}
