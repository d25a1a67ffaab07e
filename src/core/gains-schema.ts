import { growing, named, number } from './schema.js';

/** The gains of one loop, as they are answered. */
export const loopGains = named('Gains', growing({ kp: number(), ki: number(), kd: number() }));
