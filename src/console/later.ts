/** Parts of the page that few need at once: one file of their own, fetched when somebody looks. */
// So that the bundler leaves the page in one file, whatever these parts use of it: two files are 400 bytes more.
import './main.js';

export { Login } from './access/login.js';
export { EventList } from './log/event-list.js';
export { KeyHelp } from './parts/key-help.js';
export { saveTelemetry } from './plot/telemetry-csv.js';
export { Profiles } from './profiles/profiles.js';
export { FirstMinute } from './sim/first-minute.js';
export { SimPanel } from './sim/sim-panel.js';
export { FigureTable } from './step/figure-table.js';
export { RunTable } from './step/run-table.js';
export { saveStep } from './step/step-csv.js';
export { TunePlan } from './step/tune-plan.js';
export { TuneReport } from './step/tune-report.js';
export { ConflictList } from './tuning/conflict-list.js';
export { GainsFile } from './tuning/gains-file.js';
export { Revisions } from './tuning/revisions.js';
export { SnapshotQuestion } from './tuning/snapshot-question.js';
