import { RobotError } from '../../core/errors.js';
import { completeGains, type GainSet, type Unit, type UnitName } from '../../core/units.js';
import { WorkQueue } from '../../core/work-queue.js';
import { changedLoops } from '../../gains/changed-loops.js';
import { gainsBody } from '../../schemas/gains.js';
import { comparison, type HistoryLine, historyLine } from '../../schemas/history.js';
import * as s from '../../schemas/schema.js';
import type { StepMemory } from '../../steps/step-memory.js';
import type { AppOptions } from '../app-options.js';
import { SAVE_PROBLEMS } from '../problem-table.js';
import { get, post, type Route } from '../route.js';
import { compile } from '../validate.js';

/** The revision that the caller edited; 0 before the first save. Without it, the daemon does not compare revisions. */
export const BASE_REVISION = s.growing({
  baseRevision: s.optional({ ...s.count(), maximum: Number.MAX_SAFE_INTEGER }),
});

/** The parts of a request that a save needs. */
interface SaveCall {
  readonly query: s.TypeOf<typeof BASE_REVISION>;
  readonly stillWanted: () => void;
  readonly ctx: { readonly state: { readonly who: string } };
}

/** Returns a function that checks and saves gains of a unit. It resolves with the gains in force. */
export function saver({ robot, config }: AppOptions, unit: Unit) {
  const check = compile(gainsBody(unit, config.gains.bounds));
  return async (
    { query: { baseRevision }, stillWanted, ctx }: SaveCall,
    gains: GainSet,
    profile?: string,
  ) => {
    const options = { baseRevision, stillWanted, by: ctx.state.who, profile };
    return (await robot.units[unit.name].gains.save(check(gains), options)).gains;
  };
}

/** The gains of one unit: those in force, their history, and saves. */
export function gainsRoutes(options: AppOptions, unit: Unit): Route[] {
  const { robot, config, steps } = options;
  const { name } = unit;
  const path = `/api/${name}/pidconfig`;
  const anyGains = gainsBody(unit, {});
  const save = saver(options, unit);
  const historyText = historyTexts(name, steps);
  const gainsText = jsonOfLast<GainSet>();
  return [
    get(path, 'read', {
      id: `${name}Gains`,
      summary: 'The gains in force',
      answer: anyGains,
      problems: ['storage-failed'],
      act: () => gainsText(robot.store.current(name).gains),
    }),
    post(path, 'tune', {
      id: `${name}SaveGains`,
      event: { what: 'save', unit: name },
      summary: 'Save gains; answered when they are active in the controller and on the disk',
      body: gainsBody(unit, config.gains.bounds),
      answer: anyGains,
      query: BASE_REVISION,
      problems: SAVE_PROBLEMS,
      act: asked => save(asked, asked.body),
    }),
    get(`${path}/history`, 'read', {
      id: `${name}GainsHistory`,
      summary: 'Saved gains, newest first, with the newest step measured on each revision by loop',
      query: s.growing({ limit: s.optional({ ...s.count(), minimum: 1, maximum: 1000, default: 50 }) }),
      answer: s.array(historyLine(anyGains)),
      problems: ['storage-failed'],
      act: ({ query: { limit = 50 }, ctx }) =>
        historyText(() => {
          if (ctx.socket.destroyed) throw new RobotError('caller-gone');
          return robot.store.history(name, limit);
        }),
    }),
    post(`${path}/restore`, 'tune', {
      id: `${name}RestoreGains`,
      event: { what: 'restore', unit: name },
      summary: 'Save the gains of an earlier revision again',
      body: { ...s.body('Restore', { revision: { ...s.count(), minimum: 1 } }), examples: [{ revision: 1 }] },
      answer: anyGains,
      query: BASE_REVISION,
      problems: ['unknown-revision', ...SAVE_PROBLEMS],
      act: asked => save(asked, robot.store.revision(name, asked.body.revision).gains),
    }),
  ];
}

/** Returns a function that makes JSON of a value, and makes it again only for another value: gains seldom change. */
function jsonOfLast<Value extends object>() {
  let last: { readonly value: Value; readonly text: Buffer } | undefined;
  return (value: Value): Buffer => {
    if (last?.value !== value) last = { value, text: Buffer.from(JSON.stringify(value)) };
    return last.text;
  };
}

/**
 * The number of lines that become text before other requests are answered: about a millisecond's work on a
 * small board.
 */
const LINES_AT_ONCE = 50;

/**
 * Returns a function that makes a history JSON, each revision with the figures that were measured on it. Histories wait for
 * each other, so that many callers do not make that millisecond longer. `read` is called when the turn comes.
 */
export function historyTexts(unit: UnitName, figures: Pick<StepMemory, 'measured'>) {
  const queue = new WorkQueue();
  return (read: () => readonly HistoryLine[]): Promise<Buffer> =>
    queue.add(async () => {
      const lines: string[] = [];
      for (const [index, saved] of read().entries()) {
        if (index % LINES_AT_ONCE === 0) await new Promise(resolve => setImmediate(resolve));
        const measured = figures.measured(unit, saved);
        const line: HistoryLine = Object.keys(measured).length > 0 ? { ...saved, measured } : saved;
        lines.push(JSON.stringify(line));
      }
      return Buffer.from(`[${lines.join(',')}]`);
    });
}

/** Two sets of gains beside each other, by loop. Each is a revision or a profile. */
export function compareRoute({ robot, profiles, steps }: AppOptions, unit: Unit): Route {
  const { name: unitName, loops } = unit;
  const side = {
    ...s.text('The number of a revision (0: the defaults), or the name of a profile.'),
    minLength: 1,
  };
  const setOf = async (given: string) => {
    if (/^\d+$/.test(given)) {
      const saved = robot.store.revision(unitName, Number(given));
      const side = { revision: saved.revision, profile: null };
      return { side, gains: saved.gains, measured: steps.measured(unitName, saved) };
    }
    const gains = completeGains(unit, (await profiles.named(unitName, given)).gains);
    return { side: { revision: null, profile: given }, gains, measured: steps.measured(unitName, { gains }) };
  };
  return get(`/api/${unitName}/compare`, 'read', {
    id: `${unitName}Compare`,
    summary:
      'Two sets of gains by loop, with the newest step measured on each: `a` and `b` are revisions (0: the defaults) or profiles',
    query: s.growing({ a: side, b: side }),
    answer: comparison,
    problems: ['unknown-revision', 'unknown-profile', 'storage-failed'],
    act: async ({ query }) => {
      const [a, b] = [await setOf(query.a), await setOf(query.b)];
      const changed = changedLoops(a.gains, b.gains);
      const compared = loops.map(({ name, defaults }) => {
        const of = ({ gains, measured }: typeof a) => ({
          gains: gains[name] ?? defaults,
          measured: measured[name] ?? null,
        });
        return [name, { differs: name in changed, a: of(a), b: of(b) }] as const;
      });
      return { a: a.side, b: b.side, loops: Object.fromEntries(compared) };
    },
  });
}
