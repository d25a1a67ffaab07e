import { lookup } from 'node:dns/promises';
import { Agent, type IncomingMessage, request } from 'node:http';
import { isIP } from 'node:net';
import { errnoOf, messageOf } from '../core/errors.js';
import { parsedJson } from '../core/json.js';
import type { Ask, Robot } from './state.js';
import { BAD_ANSWER, type Outcome } from './take.js';

/** A longer answer is no answer of a robot, except lines of its log. */
const MOST_BYTES = 64 << 10;
const MOST_LINES_BYTES = 257 << 10;
/** An answer counts for this long. */
const ANSWER_MS = 5000;
/** A name is looked up again after this time. */
const LOOKUP_AGAIN_MS = 30_000;

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Its daemon does not run.',
  EHOSTUNREACH: 'Its board is off, or not in this network.',
  ENETUNREACH: 'This machine has no network.',
  ECONNRESET: 'It closed the connection.',
  ETIMEDOUT: 'No answer: its board is off, or not in this network.',
};

/** Errors of a connection that the robot has closed: the second one if the request is written after the close arrived. */
const CLOSED: readonly string[] = ['ECONNRESET', 'EPIPE'];

interface Name {
  address?: string;
  askedMs: number;
}

/**
 * The addresses of robots' names, looked up in the background. An absent `.local` name holds a thread for seconds. Node gives
 * lookups at most half of its threads, so that the disk always has the others.
 */
class Names {
  readonly #known = new Map<string, Name>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Undefined while the address is not known. */
  addressOf(host: string): string | undefined {
    if (isIP(host) !== 0 || host === 'localhost') return host;
    const name = this.#known.get(host) ?? { askedMs: Number.NEGATIVE_INFINITY };
    this.#known.set(host, name);
    if (this.#nowMs() - name.askedMs > LOOKUP_AGAIN_MS) void this.#lookUp(host, name);
    return name.address;
  }

  async #lookUp(host: string, name: Name): Promise<void> {
    name.askedMs = this.#nowMs();
    try {
      ({ address: name.address } = await lookup(host));
    } catch {
      // The next request looks the name up again.
      name.askedMs = Number.NEGATIVE_INFINITY;
    }
  }
}

/** Sends requests to robots. No robot delays a request to another one. */
export class RobotClient {
  readonly #agent = new Agent({ keepAlive: true, maxFreeSockets: 2 });
  readonly #names: Names;
  /** The address at which each robot has shown its id. */
  readonly #checked = new Map<string, string>();

  constructor(nowMs: () => number) {
    this.#names = new Names(nowMs);
  }

  /** Resolves with the answer, or with why there is none. Never rejects. Follows no redirect. */
  async send(robot: Robot, ask: Ask): Promise<Outcome> {
    try {
      const first = await this.#once(robot, ask, ask.isFresh);
      // The robot closed an idle connection as the request left. On a new connection the request arrives.
      return first.isStale ? await this.#once(robot, ask, true) : first;
    } catch (error) {
      // Node refuses a path with characters that belong to no URL.
      return { failure: messageOf(error) };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #once(robot: Robot, ask: Ask, isFresh: boolean): Promise<Outcome & { readonly isStale?: true }> {
    const url = new URL(robot.address);
    const name = url.hostname.replace(/^\[|\]$/g, '');
    const host = this.#names.addressOf(name);
    if (host === undefined) return { failure: `The name ${name} is not found: is the board on?` };
    if (ask.withToken && this.#checked.get(robot.name) !== host)
      return { failure: 'Its address has changed.', isMoved: true };
    const body = ask.body === undefined ? undefined : JSON.stringify(ask.body);
    const signal = AbortSignal.timeout(ANSWER_MS);
    const sent = request({
      host,
      port: url.port === '' ? 80 : Number(url.port),
      method: body === undefined ? 'GET' : 'POST',
      path: ask.path,
      agent: isFresh ? false : this.#agent,
      maxHeaderSize: 16384,
      signal,
      headers: {
        Host: url.host,
        ...(ask.withToken && { Authorization: `Bearer ${robot.token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
    });
    let response: IncomingMessage | undefined;
    try {
      response = await new Promise<IncomingMessage>((resolve, reject) => {
        sent.on('response', resolve).on('error', reject).end(body);
      });
      const isLines = ask.kind === 'lines';
      const parts: Buffer[] = [];
      let bytes = 0;
      for await (const part of response) {
        bytes += part.length;
        if (bytes > (isLines ? MOST_LINES_BYTES : MOST_BYTES))
          return { failure: 'Its answer is too long for a robot: check its address.' };
        parts.push(part);
      }
      const whole = Buffer.concat(parts);
      if (ask.kind === 'health') this.#checked.set(robot.name, host);
      const { statusCode: status = 0 } = response;
      return { status, body: isLines && status === 200 ? whole : parsedJson(whole.toString()) };
    } catch (error) {
      if (signal.aborted) return { failure: 'It does not answer within 5 s.' };
      const isClosed = CLOSED.includes(errnoOf(error) ?? '');
      if (response === undefined && sent.reusedSocket && isClosed)
        return { failure: wordsOf(error), isStale: true };
      // Whatever answers next at this address may be another machine.
      return { failure: wordsOf(error), isMoved: errnoOf(error) === 'ECONNREFUSED' };
    }
  }
}

function wordsOf(error: unknown): string {
  const code = errnoOf(error) ?? '';
  // The parser of HTTP names its errors so.
  return code.startsWith('HPE_') ? BAD_ANSWER : (WORDS[code] ?? messageOf(error));
}
