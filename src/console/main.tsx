import { render } from 'preact';
import { readAddress } from './access/session.js';
import { createDaemon } from './daemon/daemon.js';
import { EventStream } from './daemon/event-stream.js';
import { Model } from './model/model.js';
import { Page } from './page.js';
import { ConsoleContext } from './parts/console.js';
import { createColours } from './plot/palette.js';

const FRAME_MS = 30;

const daemon = createDaemon(() => stream.giveWay());
const model = new Model(daemon);
const stream = new EventStream({
  onRefused: () => void model.lookWhoIsHere(),
  onOpen: () => {
    void model.lookWhoIsHere();
    model.telemetry.streamOpened();
    void model.log.load();
    void model.runs.look();
  },
  onRest: resting => {
    model.resting.value = resting;
  },
  onFreshness: fresh => {
    model.fresh.value = fresh;
  },
  onStatus: status => model.setStatus(status),
  onTelemetry: sample => model.telemetry.take(sample),
  onStep: step => model.takeStep(step),
  onTune: tune => model.tuning.take(tune),
  onLog: event => model.log.take(event),
});

const { token, hash } = readAddress(location.hash);
if (token !== undefined) history.replaceState(null, '', location.pathname + hash);

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
  <ConsoleContext.Provider value={{ daemon, model, colours: createColours() }}>
    <Page />
  </ConsoleContext.Provider>,
  place,
);
requestAnimationFrame(frame);

if (token === undefined) stream.start();
else void model.enter(token).then(() => stream.start());
