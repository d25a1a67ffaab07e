import { browserSurroundings, hash } from '../../console/browser.js';
import { DeskModel } from './desk-model.js';

/** Whether the page is the one for the audience. */
export const isScreen = () => hash.value.startsWith('#screen');

/** `crypto.randomUUID` exists on secure pages only. */
const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), byte => byte.toString(36)).join('.');

const surroundings = browserSurroundings(new BroadcastChannel('trunnion-desk'));

/** The desk of this page. */
export const desk = new DeskModel({ ...surroundings, newId, isScreen });
