import { type Metric, metricsText } from '../core/metrics.js';
import * as s from '../schemas/schema.js';
import { get, type Route } from './route.js';

/** Serves a table of metrics to Prometheus. `source` is called at each scrape. */
export function serveMetrics<Source>(table: readonly Metric<Source>[], source: () => Source): Route {
  return get('/metrics', 'read', {
    id: 'metrics',
    summary: 'Figures for Prometheus, in its text format',
    answer: { ...s.text(), contentMediaType: 'text/plain; version=0.0.4; charset=utf-8' },
    act: () => Buffer.from(metricsText(table, source())),
  });
}
