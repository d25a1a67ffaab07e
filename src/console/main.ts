import { createApi } from './api.js';
import { element } from './dom.js';
import { EventStream } from './event-stream.js';
import { createHealthPanel } from './health-panel.js';
import { Model } from './model.js';
import { Colours } from './palette.js';
import { createPlotPanel } from './plot-panel.js';
import { stepAgeS } from './step-memory.js';
import { createStepPanel } from './step-panel.js';
import { TelemetryBuffer } from './telemetry-buffer.js';
import { type Mark, marksBetween, Timeline } from './timeline.js';
import { createTopBar } from './top-bar.js';
import { TopView } from './top-view.js';
import { createTuningPanel } from './tuning-panel.js';

/** Two minutes and more at 50 Hz, over a minute at 100 Hz. */
const SAMPLES = 8192;
const MOST_MARKS = 500;
const FRAME_MS = 30;

const secondsNow = () => performance.now() / 1000;

const api = createApi({ onStuck: () => stream.giveWay() });
const model = new Model(api);
const colours = new Colours();
const buffer = new TelemetryBuffer(SAMPLES);
const timeline = new Timeline();
const marks: Mark[] = [];
const topBar = createTopBar(model, api);
const tuning = createTuningPanel(model, api);
const plot = createPlotPanel(model, buffer, marks, colours);
const step = createStepPanel(model, api, colours);
const view = new TopView(model, colours);
const health = createHealthPanel(model);
let hasNews = false;
const panels = [topBar, tuning, plot, step, health];

function updateAll(): void {
  for (const panel of panels) panel.update();
  hasNews = true;
}

/** When each unit's gains last changed, in the page's seconds. */
const changedAtS: Record<string, number> = {};

const stream = new EventStream({
  onOpen: () => timeline.streamOpened(),
  onRest: resting => model.setResting(resting),
  onFreshness: fresh => {
    if (!fresh && buffer.newestT !== undefined) buffer.pushGap(buffer.newestT);
    model.setFresh(fresh);
    view.draw();
  },
  onStatus: status => {
    if (model.status !== undefined) {
      const news = marksBetween(model.status, status, buffer.newestT ?? secondsNow());
      for (const mark of news) if (mark.kind === 'save' && mark.unit) changedAtS[mark.unit] = secondsNow();
      marks.push(...news);
      marks.splice(0, marks.length - MOST_MARKS);
    }
    model.setStatus(status);
  },
  onTelemetry: sample => {
    buffer.push(timeline.pageTime(sample.t, secondsNow()), sample);
    view.take(sample);
    hasNews = true;
  },
  onStep: record => {
    const gains = model.units[record.unit].stored?.[record.loop];
    const begunS = secondsNow() - stepAgeS(record);
    if (gains !== undefined && begunS > (changedAtS[record.unit] ?? 0)) step.take(record, gains);
  },
});

const page = element(
  'main',
  {},
  element('div', { class: 'instruments' }, plot.element, step.element, view.element),
  element('div', { class: 'settings' }, tuning.element, health.element),
);
document.querySelector('#page')?.replaceWith(topBar.element, page);
model.changed.add(updateAll);
updateAll();
plot.runTo(secondsNow());

let drawnMs = 0;
function frame(nowMs: number): void {
  requestAnimationFrame(frame);
  if (!hasNews || nowMs - drawnMs < FRAME_MS) return;
  drawnMs = nowMs;
  hasNews = false;
  plot.runTo(buffer.newestT ?? secondsNow());
  view.draw();
}
requestAnimationFrame(frame);
stream.start();
