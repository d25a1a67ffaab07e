import { pause } from '../../src/core/clock.js';
import { isObject } from '../../src/core/json.js';
import type { DaemonProcess } from '../support/daemon-process.js';
import { type Answer, type Asked, type Call, isTaken } from './asked.js';
import type { Shared } from './daemons.js';
import { LATEST_ID, type WalkStep } from './history.js';
import type { Request } from './request.js';

/** Sends requests to the daemon, and tells the model what was sent and answered. */
export class WalkCallers {
  readonly #shared: Shared;
  /** The daemon that runs now. */
  readonly #daemon: () => DaemonProcess | undefined;
  /** The id of the latest trial or tuning, by path. */
  readonly #ids = new Map<string, string>();

  constructor(shared: Shared, daemon: () => DaemonProcess | undefined) {
    this.#shared = shared;
    this.#daemon = daemon;
  }

  /** Returns undefined if the daemon does not listen. */
  ask(asked: Request, hangUpAfterMs?: number): Call | undefined {
    const { clock, model } = this.#shared;
    const request = this.#withId(asked);
    const { method, path, body, as, elsewhere } = request;
    const call = this.#daemon()?.send<NonNullable<Answer['body']>>({
      ask: `${method} ${path}`,
      ...(body !== undefined && { body }),
      ...(as !== undefined && { as }),
      ...(elsewhere && { from: '192.0.2.2' }),
    });
    if (call === undefined) return undefined;
    const sent = model.sent(request, clock.nowMs());
    const hangUp = () => {
      model.hungUp(sent, clock.nowMs());
      call.hangUp();
    };
    if (hangUpAfterMs !== undefined) clock.after(hangUpAfterMs, hangUp);
    const answer = call.answer.then(answer => {
      this.#answered(sent, answer);
      return answer;
    });
    return { answer, hangUp };
  }

  flood({ request, callers, pauseMs, forMs }: Extract<WalkStep, { do: 'flood' }>): void {
    const { clock } = this.#shared;
    const flooded = this.#daemon();
    const untilMs = clock.nowMs() + forMs;
    const again = async () => {
      while (clock.nowMs() < untilMs && this.#daemon() === flooded) {
        const answer = await this.ask(request)?.answer;
        if (answer === undefined) return;
        await pause(clock, pauseMs);
      }
    };
    for (let caller = 0; caller < callers; caller += 1) void again();
  }

  /** Replaces LATEST_ID in the body by the id that was answered last for this path. */
  #withId(request: Request): Request {
    const { path, body } = request;
    if (!isObject(body) || body.id !== LATEST_ID) return request;
    return { ...request, body: { ...body, id: this.#ids.get(path) ?? 'none' } };
  }

  #answered(asked: Asked, answer: Answer): void {
    const { clock, guard, model, robot } = this.#shared;
    const { path } = asked;
    if (/(trial|autotune)$/.test(path) && isTaken(answer)) this.#ids.set(path, String(answer.body?.id));
    guard.run(() => model.answered(asked, answer, robot.truth, clock.nowMs()));
  }
}
