import { isObject } from '../../core/json.js';

interface Announcement {
  readonly kind: 'opened' | 'here' | 'closed' | 'give way';
  readonly id: string;
}

/** A browser has six connections to a host for all its windows together. Two of them stay free for requests. */
const MOST_STREAMS = 4;
/**
 * If fewer streams than this are open, the browser has a connection for every request. A request that waits then
 * waits for the daemon.
 */
const FEWEST_IN_THE_WAY = 3;

interface StreamRoomOptions {
  readonly id: string;
  /** Sends a message to the other windows of this browser. */
  readonly tell: (message: unknown) => void;
  /**
   * Called when MOST_STREAMS other windows have opened a stream after this window. This window then closes its
   * stream.
   */
  readonly onCrowded: () => void;
  /** Called when a request of one of the windows has no connection. */
  readonly onGiveWay: () => void;
}

/** Keeps the streams of a browser's visible windows from taking all of its connections. */
export class StreamRoom {
  readonly #options: StreamRoomOptions;
  readonly #younger = new Set<string>();
  /** Windows with a stream, including this one. */
  readonly #open = new Set<string>();

  constructor(options: StreamRoomOptions) {
    this.#options = options;
  }

  opened(): void {
    this.#younger.clear();
    this.#open.add(this.#options.id);
    this.#announce('opened');
  }

  closed(): void {
    this.#open.delete(this.#options.id);
    this.#announce('closed');
  }

  /** Asks the other windows for a connection, because a request waits. */
  askForWay(): void {
    if (this.#open.size < FEWEST_IN_THE_WAY) return;
    this.#announce('give way');
    this.#options.onGiveWay();
  }

  hear(message: unknown): void {
    if (!isAnnouncement(message)) return;
    if (message.kind === 'give way') this.#options.onGiveWay();
    if (message.kind === 'here') this.#open.add(message.id);
    if (message.kind === 'closed') {
      this.#younger.delete(message.id);
      this.#open.delete(message.id);
    }
    if (message.kind !== 'opened') return;
    if (this.#open.has(this.#options.id)) this.#announce('here');
    this.#open.add(message.id);
    this.#younger.add(message.id);
    if (this.#younger.size >= MOST_STREAMS) this.#options.onCrowded();
  }

  #announce(kind: Announcement['kind']): void {
    const message: Announcement = { kind, id: this.#options.id };
    this.#options.tell(message);
  }
}

function isAnnouncement(message: unknown): message is Announcement {
  return isObject(message) && 'kind' in message && 'id' in message;
}
