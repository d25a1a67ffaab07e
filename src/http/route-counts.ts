import type { Clock } from '../core/clock.js';
import { asRobotError } from '../core/errors.js';
import { Histogram } from '../core/metrics.js';
import { PROBLEMS } from './problem-table.js';
import type { Route } from './route.js';

/** All further pairs of route and status count as one. */
const MOST_PAIRS = 60;
/** The statuses of a missing right. They count without a route, so that a stranger does not use up the pairs. */
const OF_STRANGERS: readonly number[] = [401, 403];
const BOUNDS_S = [0.01, 0.025, 0.05, 0.1, 0.25, 1] as const;

type Counter = [labels: { readonly route: string; readonly code: string }, count: number];

/** Counts and times the answers of routes. */
export class RouteCounts {
  /** By route and status: these two, and the number of answers. */
  readonly answers = new Map<string, Counter>();
  /** By the id of the route. */
  readonly durations = new Map<string, Histogram>();

  /** The same route, counted. */
  counted(route: Route, clock: Clock): Route {
    const duration = new Histogram(BOUNDS_S);
    this.durations.set(route.id, duration);
    const handle: Route['handle'] = async (ctx, authorize) => {
      const startMs = clock.nowMs();
      let status: number = route.answerStatus ?? 200;
      try {
        return await route.handle(ctx, authorize);
      } catch (error) {
        status = PROBLEMS[asRobotError(error).code].status;
        throw error;
      } finally {
        this.#count(route.id, status);
        duration.observe((clock.nowMs() - startMs) / 1000);
      }
    };
    return { ...route, handle };
  }

  #count(id: string, status: number): void {
    const route = OF_STRANGERS.includes(status) ? 'other' : id;
    const isFull = this.answers.size >= MOST_PAIRS && !this.answers.has(`${route} ${status}`);
    const labels = isFull ? { route: 'other', code: 'other' } : { route, code: `${status}` };
    const key = `${labels.route} ${labels.code}`;
    const counter = this.answers.get(key) ?? [labels, 0];
    counter[1] += 1;
    this.answers.set(key, counter);
  }
}
