import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { memoryMiB, processorMs } from '../../src/command/bench-command.js';
import { freePort } from '../../test/support/daemon.js';
import { Connection, request } from './connection.js';

const START_MS = 60_000;

/**
 * Behind a proxy, Node 20 reads the machine's certificates at each start, which takes longer than everything else.
 * Robots have no such certificates, and nothing here uses TLS.
 */
const ENVIRONMENT: NodeJS.ProcessEnv = { ...process.env, NODE_EXTRA_CA_CERTS: undefined };

/** The arguments of Node for a daemon on this port. */
export interface Program {
  readonly name: string;
  args(port: number): string[];
}

/** A server in a separate process, with its output in a file. */
export class Server {
  readonly name: string;
  readonly port: number;
  readonly log: string;
  readonly #process: ChildProcess;

  private constructor(name: string, port: number, log: string, child: ChildProcess) {
    this.name = name;
    this.port = port;
    this.log = log;
    this.#process = child;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  /** Starts a program and waits for its first answer. */
  static async start(program: Program, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const port = await freePort();
    const log = join(folder, `${program.name}.log`);
    // The log is opened for appending, so that it has no hole after log rotation truncates it.
    const output = openSync(log, 'a');
    const child = spawn(process.execPath, program.args(port), {
      stdio: ['ignore', output, output],
      env: { ...ENVIRONMENT, ...env },
    });
    closeSync(output);
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const server = new Server(program.name, port, log, child);
    try {
      await server.#answers();
    } catch (error) {
      await server.stop('SIGKILL');
      throw error;
    }
    return server;
  }

  /** Repeats the request until the server answers. */
  async #answers(): Promise<void> {
    const untilMs = performance.now() + START_MS;
    for (;;) {
      try {
        const connection = await Connection.open(this.port);
        await connection.send(request('GET', '/healthz'));
        connection.close();
        return;
      } catch (error) {
        if (performance.now() > untilMs || this.#process.exitCode !== null) {
          const printed = readFileSync(this.log, 'utf8')
            .trim()
            .replaceAll(/\s*\n\s*/g, ' | ');
          throw new Error(`${this.name} does not answer: ${printed}`, { cause: error });
        }
        await delay(1);
      }
    }
  }

  /** Sends one request on a new connection, and returns the answer's JSON. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const connection = await Connection.open(this.port);
    const { status, text } = await connection.send(request(method, path, body));
    connection.close();
    if (status !== 200) throw new Error(`${method} ${path} of ${this.name}: ${status} ${text}`);
    return JSON.parse(text);
  }

  get rssMiB(): number {
    return memoryMiB(this.pid);
  }

  get processorMs(): number {
    return processorMs(this.pid);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill(signal);
    await exited;
  }
}
