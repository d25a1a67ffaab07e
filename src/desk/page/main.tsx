import { render } from 'preact';
import { token } from '../../console/browser.js';
import { PressContext } from '../../console/parts/parts.js';
import { desk } from './desk.js';
import { DeskPage } from './desk-page.js';

const rules = { mayMove: true, may: () => true, hasRightTo: () => true, surroundings: desk.surroundings };

if (token !== null) void desk.enter(token);
// The browser asks before it closes a page whose press has not arrived.
window.onbeforeunload = () => desk.pending.peek().size > 0 || null;
document.addEventListener('visibilitychange', () => desk.doubt());

const place = document.querySelector('#page') ?? document.body;
place.textContent = '';
render(
  <PressContext.Provider value={rules}>
    <DeskPage />
  </PressContext.Provider>,
  place,
);
desk.start();
