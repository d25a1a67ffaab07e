import { render } from 'preact';
import { browserSurroundings, token } from './browser.js';
import { Model } from './model/model.js';
import { Page } from './page.js';
import { ModelContext, PressContext } from './parts/parts.js';

const FRAME_MS = 30;

const windows = new BroadcastChannel('trunnion');
const model = new Model(browserSurroundings(windows));
const { access, stream, telemetry } = model;

windows.addEventListener('message', event => stream.room.hear(event.data));
document.addEventListener('visibilitychange', () => stream.setHidden(document.hidden));
window.addEventListener('pagehide', () => stream.setHidden(true));
for (const type of ['focus', 'pointerdown', 'keydown'])
  window.addEventListener(type, () => stream.rest(false), { capture: true });
// The person may have logged in or out in another window. The answer may change the layout, so the page asks
// a second later: STOP must not move away from the press that gave this window the focus.
window.addEventListener('focus', () => {
  if (model.status.peek() !== undefined) setTimeout(() => void access.refresh(), 1000);
});
// The browser asks before the page closes if a STOP or an Off is pending, or if a referee's beats would end.
window.onbeforeunload = () => model.isOwing || model.referee.isBeating || null;

let drawnMs = 0;
function frame(nowMs: number): void {
  requestAnimationFrame(frame);
  if (nowMs - drawnMs < FRAME_MS) return;
  drawnMs = nowMs;
  telemetry.draw();
}

const place = document.querySelector('#page') ?? document.body;
place.textContent = '';
render(
  <PressContext.Provider value={model}>
    <ModelContext.Provider value={model}>
      <Page />
    </ModelContext.Provider>
  </PressContext.Provider>,
  place,
);
requestAnimationFrame(frame);

if (document.hidden) stream.setHidden(true);
if (token === null) stream.start();
else void access.enter(token).then(() => stream.start());
