import { render } from 'preact';
import { browserSurroundings, readAddress } from '../../console/browser.js';
import { PressContext } from '../../console/parts/parts.js';
import { DeskContext } from './desk-context.js';
import { DeskModel } from './desk-model.js';
import { DeskPage, isScreen } from './desk-page.js';

/** `crypto.randomUUID` exists on secure pages only. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

const { clock, fetch } = browserSurroundings(new BroadcastChannel('trunnion-desk'));
const desk = new DeskModel({ clock, fetch, newId, isScreen });
const rules = { isStopping: false, may: () => true, hasRightTo: () => true, surroundings: { clock } };

const { token, hash } = readAddress(location.hash);
if (token !== null) {
  history.replaceState(null, '', location.pathname + hash);
  void desk.enter(token);
}
// The browser asks before it closes a page whose press has not arrived.
window.onbeforeunload = () => desk.pending.peek().size > 0 || null;

const place = document.querySelector('#page') ?? document.body;
place.textContent = '';
render(
  <PressContext.Provider value={rules}>
    <DeskContext.Provider value={desk}>
      <DeskPage />
    </DeskContext.Provider>
  </PressContext.Provider>,
  place,
);
desk.start();
