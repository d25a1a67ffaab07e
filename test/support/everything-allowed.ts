import type { Permission } from '../../src/robot/permission.js';

/** A robot outside any match. */
export const everythingAllowed: Permission = { require: () => undefined };
