// First, so that the bundle begins with uPlot. gzip finds again only what stood less than 32 KB before: with uPlot in the
// middle of the page's own code the first load is half a kilobyte larger.
import './plot/chart.js';
import { render } from 'preact';
import { readAddress } from './access/session.js';
import { createDaemon } from './daemon/daemon.js';
import { EventStream } from './daemon/event-stream.js';
import { Model } from './model/model.js';
import { Page } from './page.js';
import { ConsoleContext } from './parts/console.js';
import { createPalette } from './plot/palette.js';

const FRAME_MS = 30;

const daemon = createDaemon({
  onStuck: () => stream.giveWay(),
  onIdentityRefused: () => void model.lookWhoIsHere(),
  isStopUnheard: () => model.stop.isUnheard,
});
const model = new Model(daemon);
const stream = new EventStream({
  // Whoever may read is refused only where there is no room.
  onLost: isRefused => void model.streamLost(isRefused ? 'Too many pages are open' : 'The stream is silent'),
  onOpen: () => model.streamOpened(),
  onRest: resting => {
    model.resting.value = resting;
  },
  onFreshness: fresh => {
    model.fresh.value = fresh;
  },
  events: {
    status: status => model.setStatus(status),
    telemetry: sample => model.takeTelemetry(sample),
    step: step => model.takeStep(step),
    tune: tune => model.tuning.take(tune),
    log: event => model.log.take(event),
  },
});

const { token, hash } = readAddress(location.hash);
if (token !== null) history.replaceState(null, '', location.pathname + hash);

// Somebody may have entered or left in another window. The answer may change the page, so it waits for the press that may
// have brought the focus: a STOP must not go from under it.
window.addEventListener('focus', () => {
  if (model.status.peek() !== undefined) setTimeout(() => void model.lookWhoIsHere(), 1000);
});
// The browser asks whoever would forget a stop or an Off that is still to be sent.
window.onbeforeunload = () => model.isOwing || null;

let drawnMs = 0;
function frame(nowMs: number): void {
  requestAnimationFrame(frame);
  if (nowMs - drawnMs < FRAME_MS) return;
  drawnMs = nowMs;
  model.telemetry.draw();
}

const place = document.querySelector('#page') ?? document.body;
place.textContent = '';
render(
  <ConsoleContext.Provider value={{ daemon, model, palette: createPalette() }}>
    <Page />
  </ConsoleContext.Provider>,
  place,
);
requestAnimationFrame(frame);

if (token === null) stream.start();
else void model.enter(token).then(() => stream.start());
