import type { Context } from 'koa';
import type { Access } from '../access/access.js';
import { type Clock, every, type Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { LogEvent } from '../schemas/log.js';
import type { Status } from '../schemas/status.js';
import type { Step } from '../schemas/step.js';
import type { Telemetry } from '../schemas/telemetry.js';
import type { Tune } from '../schemas/tune.js';
import { callerOf } from './authorization.js';

/** What the streams show. Each `on…` returns the act that ends the subscription. */
export interface EventFeed {
  status(): Status;
  /** The status as text, without uptime and bus counters, which change all the time. Equal texts need no new event. */
  lasting(): string;
  /** True if a unit is in another mode than manual. */
  isDriven(): boolean;
  /** Calls the listener when the status may have changed. */
  onStatus(listener: () => void): () => void;
  /** Calls the listener at every poll. `t` is in monotonic seconds. */
  onTelemetry(listener: (sample: Telemetry) => void): () => void;
  onStep(listener: (step: Step) => void): () => void;
  onTune(listener: (tune: Tune) => void): () => void;
  onLog(listener: (event: LogEvent) => void): () => void;
}

const MOST_STREAMS = 32;
/** Streams that only callers who drive or rule may take. */
const KEPT_STREAMS = 8;
const COMMENT_MS = 5_000;
/** Status changes within this time make one event. */
const COALESCE_MS = 20;
/** Readings within this time go out in one write: two at 50 Hz, or five while all units are in manual. */
const GATHER_S = { driven: 0.03, manual: 0.09 } as const;
/** A browser reconnects this soon after its stream ended. */
const RETRY_MS = 300;
/** Events that the daemon keeps for a slow reader. If there are more, it ends the stream; the reader reconnects. */
const MOST_OWED = 50;
/** If a reader takes nothing for this long, its stream ends. */
const STUCK_MS = 2000;

interface Stream {
  readonly ctx: Context;
  /** When the socket became full; undefined if it is not full. */
  slowSinceMs: number | undefined;
  /** The last status that was written, as `lasting` gives it. */
  lastSent: string | undefined;
  /** Events that the full socket could not take. Readings and status are not kept: newer ones replace them. */
  readonly owed: string[];
}

export interface Events {
  /** The number of open streams. */
  readonly streams: number;
  /** Turns the answer into a stream. Throws `too-many-streams`. */
  open(ctx: Context): void;
}

/** Server-sent events from one feed. It listens to the feed only while there is a stream, and writes all streams the same text. */
export function createEvents(
  feed: EventFeed,
  clock: Clock,
  access: Pick<Access, 'callerOf' | 'allows' | 'changed'>,
): Events {
  const streams = new Set<Stream>();
  let stopListening: (() => void) | undefined;

  /** Returns false if the socket is full. A slow reader costs no more memory than its socket and its owed events. */
  const write = (stream: Stream, text: string) => {
    if (stream.slowSinceMs !== undefined) {
      if (clock.nowMs() - stream.slowSinceMs > STUCK_MS) stream.ctx.res.destroy();
      return false;
    }
    if (!stream.ctx.res.write(text)) stream.slowSinceMs = clock.nowMs();
    return true;
  };
  /** Readings that wait for the next write. */
  let readings = '';
  /** The `t` of the newest readings that were sent. */
  let writtenT = 0;
  const writeAll = (text: string) => {
    const all = readings + text;
    readings = '';
    for (const stream of streams) {
      if (write(stream, all)) continue;
      if (text !== '') stream.owed.push(text);
      if (stream.owed.length > MOST_OWED) stream.ctx.res.destroy();
    }
  };
  const gather = (sample: Telemetry) => {
    readings += eventText('telemetry', sample);
    if (sample.t - writtenT < (feed.isDriven() ? GATHER_S.driven : GATHER_S.manual)) return;
    writtenT = sample.t;
    writeAll('');
  };
  /** Sends the status to each stream that has not got it yet. A stream with a full socket gets it after `drain`. */
  const sendStatus = () => {
    const now = feed.lasting();
    const due = [...streams].filter(stream => stream.slowSinceMs === undefined && stream.lastSent !== now);
    if (due.length === 0) return;
    // These readings are older than the status, so they go first.
    if (readings !== '') writeAll('');
    const text = eventText('status', feed.status());
    for (const stream of due) if (write(stream, text)) stream.lastSent = now;
  };

  const listen = () => {
    readings = '';
    let pending: Timer | undefined;
    const statusSoon = () => {
      pending ??= clock.after(COALESCE_MS, () => {
        pending = undefined;
        sendStatus();
      });
    };
    const ends = [
      feed.onStatus(statusSoon),
      () => pending?.cancel(),
      feed.onTelemetry(gather),
      feed.onStep(step => writeAll(eventText('step', step))),
      feed.onTune(tune => writeAll(eventText('tune', tune))),
      feed.onLog(event => writeAll(eventText('log', event))),
      access.changed.add(() => {
        for (const { ctx } of streams) if (!access.allows('read', callerOf(access, ctx))) ctx.res.destroy();
      }),
      every(clock, COMMENT_MS, () => {
        for (const stream of streams) write(stream, ':\n\n');
      }),
    ];
    return () => {
      for (const end of ends) end();
    };
  };

  const forget = (stream: Stream) => {
    streams.delete(stream);
    if (streams.size > 0) return;
    stopListening?.();
    stopListening = undefined;
  };

  const open = (ctx: Context) => {
    const { rights } = callerOf(access, ctx);
    const drivesOrRules = rights.some(right => right === 'drive' || right === 'rule');
    const most = drivesOrRules ? MOST_STREAMS : MOST_STREAMS - KEPT_STREAMS;
    if (ctx.method !== 'HEAD' && streams.size >= most) throw new RobotError('too-many-streams');
    ctx.status = 200;
    ctx.type = 'text/event-stream';
    if (ctx.method === 'HEAD') return;
    const stream: Stream = { ctx, slowSinceMs: undefined, lastSent: undefined, owed: [] };
    ctx.respond = false;
    ctx.socket.setNoDelay(true);
    streams.add(stream);
    ctx.res.once('close', () => forget(stream));
    ctx.res.on('error', () => ctx.res.destroy());
    ctx.res.on('drain', () => {
      stream.slowSinceMs = undefined;
      if (stream.owed.length > 0) write(stream, stream.owed.splice(0).join(''));
      sendStatus();
    });
    stopListening ??= listen();
    write(stream, `retry: ${RETRY_MS}\n\n`);
    sendStatus();
  };
  return {
    get streams() {
      return streams.size;
    },
    open,
  };
}

function eventText(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
