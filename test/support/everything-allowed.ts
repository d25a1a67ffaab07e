import type { Permission } from '../../src/robot/request-gate.js';

/** Allows everything, as a robot outside a match does. */
export const everythingAllowed: Permission = { require: () => undefined };
