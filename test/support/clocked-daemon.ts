import { standstill } from '../../sim/firmware/unit-loops.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { simRoutes } from '../../sim/sim-routes.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { tokenFile } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import { RobotError } from '../../src/core/errors.js';
import { perUnit } from '../../src/core/units.js';
import { CALLERS, isCaller, tokenListOf } from './callers.js';
import { DaemonProcess } from './daemon-process.js';
import { ManualClock } from './manual-clock.js';
import type { MemoryCall, Sent } from './memory-call.js';
import { isEventStream, type Received } from './raw-answer.js';
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
  /** The clock of an earlier daemon, which this daemon replaces. */
  readonly clock?: ManualClock;
  /** Whether nothing moves, whatever the gains are. */
  readonly isStill?: boolean;
  /** Whether the robot says that it is simulated. By default true. */
  readonly simulated?: boolean;
}

/** A request whose answer is awaited. */
export interface AwaitedRequest extends Sent {
  /** How long the caller reads an event stream. */
  readonly listenMs?: number;
}

const STATE_FOLDER = '/state';
const PATIENCE_MS = 20_000;
const DISK_MS = 1;
/** The pause after each request. */
const PAUSE_MS = 50;
const STILL = { loops: perUnit(standstill), loopRateHz: 1000, step: () => undefined };

/** A daemon and its simulated robot in simulated time. */
export class ClockedDaemon {
  readonly clock: ManualClock;
  readonly #disk = new RecordingDisk();
  readonly #process: DaemonProcess;

  private constructor({ config = {}, files = {}, tokens = false, diskFails = [], ...given }: Settings) {
    this.clock = given.clock ?? new ManualClock();
    if (tokens) this.#disk.put(tokenFile(STATE_FOLDER), tokenListOf(Object.keys(CALLERS).filter(isCaller)));
    for (const [name, content] of Object.entries(files)) this.put(name, content);
    this.diskFails(diskFails);
    const { clock } = this;
    const usual = loadConfig(undefined, {}, { host: 'localhost', state: STATE_FOLDER });
    const robot = new SimulatedRobot({ clock, physics: given.isStill ? STILL : createPhysics({ seed: 1 }) });
    this.#process = new DaemonProcess({
      config: configWith(usual, config),
      hardware: { ...robot.hardware, simulated: given.simulated ?? true },
      clock,
      disk: this.#disk,
      boot: { id: 'boot', nowMs: () => clock.nowMs() },
      extraRoutes: simRoutes(robot),
    });
  }

  static async start(settings: Settings = {}): Promise<ClockedDaemon> {
    const daemon = new ClockedDaemon(settings);
    await daemon.clock.during(daemon.#process.start());
    await daemon.wait(500);
    return daemon;
  }

  get logged(): DaemonProcess['logged'] {
    return this.#process.logged;
  }

  async wait(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Lets time pass as if the event loop were late: the next request is read before any timer runs. */
  late(ms: number): void {
    this.clock.late(ms);
  }

  diskFails(fails: readonly string[]): void {
    this.#disk.interfere = async operation => {
      await new Promise<void>(resolve => this.clock.after(DISK_MS, resolve));
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
    await this.clock.during(this.#process.close());
  }

  /** Returns undefined if the daemon does not listen. */
  send(sent: Sent): MemoryCall | undefined {
    return this.#process.send(sent);
  }

  async ask({ listenMs = 0, ...sent }: AwaitedRequest): Promise<Received> {
    const call = this.send(sent);
    await this.clock.advance(PATIENCE_MS, () => call?.received !== undefined);
    if (call?.received !== undefined && isEventStream(call.received)) await this.wait(listenMs);
    const answer = call?.received;
    call?.hangUp();
    // Waits until everything that this request started has ended.
    await this.wait(PAUSE_MS);
    if (answer === undefined) throw new Error(`no answer to ${sent.ask}`);
    return answer;
  }

  /** The body of the answer to a request. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert.
  async bodyOf(ask: string, body?: unknown, more: Partial<AwaitedRequest> = {}): Promise<any> {
    return (await this.ask({ ask, body, ...more })).body;
  }
}
