import { createServer, type RequestListener, type Server } from 'node:http';
import { Duplex } from 'node:stream';
import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { simRoutes } from '../../sim/sim-routes.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { hashOf } from '../../src/access/token.js';
import { encodeTokens, tokenFile } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import { RobotError } from '../../src/core/errors.js';
import { type Daemon, startBehind } from '../../src/daemon/start.js';
import type { Proposal, ProposalTask } from '../../src/tuning/propose.js';
import { noLock } from './journal-lines.js';
import { ManualClock } from './manual-clock.js';
import { isEventStream, parsed, type Received } from './raw-answer.js';
import { RecordingDisk } from './recording-disk.js';
import { configWith, type Sections } from './simulated-daemon.js';

export interface Settings {
  readonly config?: Sections;
  /** State files by their names. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** Whether the list of tokens holds one token for each name in `CALLERS`. */
  readonly tokens?: boolean;
  /** Operations of the disk that fail from the start. */
  readonly diskFails?: readonly string[];
}

/** A request of one caller. */
export interface Sent {
  /** Method and path. */
  readonly ask: string;
  /** The name of the caller's token. */
  readonly as?: string;
  /** The caller's address. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  /** The body, sent without a change. */
  readonly text?: string;
  /** How long the caller reads an event stream. */
  readonly listenMs?: number;
}

/** All callers with a token. */
const CALLERS = {
  operator: { role: 'operator', secret: 'h73s-hzx8-6dsk-kvct-zbag-bg1r-vv59-thrb' },
  rival: { role: 'operator', secret: '0qrz-qqdt-73tm-7gxp-tgp0-0jap-say3-r0hz' },
  referee: { role: 'referee', secret: 'a958-qtpq-xerk-zhhn-2mgm-h9j7-xyqr-arrh' },
  spectator: { role: 'spectator', secret: '7dpq-hepc-pepb-tsgt-jbbf-e7jk-sthx-hdn3' },
} as const;
const STATE_FOLDER = '/state';
const PATIENCE_MS = 20_000;
const DISK_MS = 1;
/** The pause after each request. */
const PAUSE_MS = 50;

/** A daemon and its simulated robot in simulated time. Requests arrive without a socket, so nothing waits for the kernel. */
export class ClockedDaemon {
  readonly #disk = new RecordingDisk();
  readonly #clock = new ManualClock();
  readonly #server: Server;
  /** The lines of the daemon's log on stdout. */
  readonly logged: Readonly<Record<string, unknown>>[] = [];
  #daemon: Daemon | undefined;

  private constructor(listener: RequestListener) {
    this.#server = createServer({ requireHostHeader: false }, listener);
  }

  static async start({
    config = {},
    files = {},
    tokens = false,
    diskFails = [],
  }: Settings = {}): Promise<ClockedDaemon> {
    let listener: RequestListener = () => undefined;
    const started = new ClockedDaemon((request, response) => listener(request, response));
    if (tokens) {
      const list = Object.entries(CALLERS).map(([name, { role, secret }]) => ({
        name,
        role,
        hash: hashOf(secret),
      }));
      started.#disk.put(tokenFile(STATE_FOLDER), encodeTokens(list));
    }
    for (const [name, content] of Object.entries(files)) started.put(name, content);
    started.diskFails(diskFails);
    const clock = started.#clock;
    const usual = loadConfig(undefined, {}, { host: 'localhost', state: STATE_FOLDER });
    const robot = new SimulatedRobot({ clock, physics: createPhysics({ seed: 1 }) });
    await clock.during(
      startBehind(
        {
          address: { address: '127.0.0.1', family: 'IPv4', port: 8080 },
          url: 'http://localhost:8080',
          serve: served => {
            listener = served;
          },
          close: async () => undefined,
        },
        {
          config: configWith(usual, config),
          hardware: robot.hardware,
          log: pino({}, { write: line => started.logged.push(JSON.parse(line)) }),
          clock,
          disk: started.#disk,
          lock: noLock,
          boot: { id: 'boot', nowMs: () => clock.nowMs() },
          propose: async task => quickProposal(task),
          extraRoutes: simRoutes(robot),
        },
      ).then(daemon => {
        started.#daemon = daemon;
      }),
    );
    await started.wait(500);
    return started;
  }

  async wait(ms: number): Promise<void> {
    await this.#clock.advance(ms);
  }

  /** Lets time pass as if the event loop were late: the next request is read before any timer runs. */
  late(ms: number): void {
    this.#clock.late(ms);
  }

  diskFails(fails: readonly string[]): void {
    this.#disk.interfere = async operation => {
      await new Promise<void>(resolve => this.#clock.after(DISK_MS, resolve));
      const context = { operation, path: STATE_FOLDER, errno: 'EIO', cure: 'Replace the disk.' };
      if (fails.includes(operation)) throw new RobotError('storage-failed', context);
    };
  }

  /** Another process writes a state file. */
  put(name: string, content: string | Buffer): void {
    this.#disk.put(`${STATE_FOLDER}/${name}`, Buffer.from(content));
  }

  /** The state files by their names. */
  files(): Readonly<Record<string, Buffer>> {
    const whole = Object.entries(this.#disk.files());
    return Object.fromEntries(whole.map(([path, data]) => [path.slice(STATE_FOLDER.length + 1), data]));
  }

  async close(): Promise<void> {
    this.diskFails([]);
    await this.#clock.during(this.#daemon?.close() ?? Promise.resolve());
  }

  async ask(sent: Sent): Promise<Received> {
    const received: Buffer[] = [];
    let ended = false;
    const connection = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _, done) => {
        received.push(chunk);
        done();
      },
      final: done => {
        ended = true;
        done();
      },
    });
    const address = { remoteAddress: sent.from ?? '192.0.2.1', localPort: 8080 };
    Object.assign(connection, address, { setNoDelay: () => connection });
    this.#server.emit('connection', connection);
    connection.push(this.#bytes(sent));
    const [method = ''] = sent.ask.split(' ');
    const answer = () => parsed(Buffer.concat(received), { method, ended });
    const untilMs = this.#clock.nowMs() + PATIENCE_MS;
    await this.#clock.advance(PATIENCE_MS, () => answer() !== undefined);
    if (this.#clock.nowMs() >= untilMs) throw new Error(`no answer to ${sent.ask}`);
    if (isEventStream(Buffer.concat(received))) await this.wait(sent.listenMs ?? 0);
    const whole = answer();
    connection.destroy();
    // Waits until everything that this request started has ended.
    await this.wait(PAUSE_MS);
    if (whole === undefined) throw new Error(`no answer to ${sent.ask}`);
    return whole;
  }

  #bytes({ ask, as, headers = {}, body, text }: Sent): Buffer {
    const content = text ?? JSON.stringify(body) ?? '';
    const all: Record<string, string> = {
      Host: 'localhost:8080',
      Connection: 'close',
      ...(as !== undefined && { Authorization: `Bearer ${secretOf(as)}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(!/^(GET|HEAD|OPTIONS)/.test(ask) && { 'Content-Length': String(Buffer.byteLength(content)) }),
      ...headers,
    };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return Buffer.from(`${ask} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${content}`);
  }
}

/** An unknown name gets a secret that is in no list. */
function secretOf(name: string): string {
  return name in CALLERS ? CALLERS[name as keyof typeof CALLERS].secret : '0000-0000';
}

/** Computing real gains takes seconds. These are close to the gains in force. */
function quickProposal({ runs }: ProposalTask): Proposal {
  const gains = runs.at(-1)?.gains ?? { kp: 1, ki: 0, kd: 0 };
  const curve = { periodS: 0.01, setpoint: 1, measured: [0, 1] };
  const predicted = { settlingS: 0.1, overshootPercent: 0, fitPercent: 0.5, curve };
  return { gains: { ...gains, kp: 1.2 * gains.kp }, predicted, cost: 0.1, costNow: 1 };
}
