import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection, request } from './connection.js';

const START_MS = 60_000;

/**
 * What every measured program is started in. Node 20 reads the certificates of a machine behind a proxy at each start,
 * which takes longer than all else that it does then; no robot has them, and nothing here speaks TLS.
 */
export const environment = (): NodeJS.ProcessEnv => ({ ...process.env, NODE_EXTRA_CA_CERTS: undefined });

/** A server as a process of its own, its output in a file as the journal's would be. */
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

  /** Started, with its port: not yet answering. */
  static async spawn(program: Program, folder: string, env: NodeJS.ProcessEnv = {}): Promise<Server> {
    const port = await freePort();
    const log = join(folder, `${program.name}.log`);
    // Appending, so that what truncates the file, as log rotation does, leaves no hole.
    const output = openSync(log, 'a');
    const node = [process.execPath, ...program.args(port)];
    const [command = '', ...args] = program.through === undefined ? node : [program.through, ...node];
    const child = spawn(command, args, {
      stdio: ['ignore', output, output],
      env: { ...environment(), ...env },
    });
    closeSync(output);
    // A bench that is ended leaves nothing running.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    return new Server(program.name, port, log, child);
  }

  static async start(program: Program, folder: string, env?: NodeJS.ProcessEnv): Promise<Server> {
    const server = await Server.spawn(program, folder, env);
    try {
      await server.answers();
    } catch (error) {
      await server.stop('SIGKILL');
      throw error;
    }
    return server;
  }

  /** Asks until the first answer. */
  async answers(): Promise<void> {
    const bytes = request('GET', '/api/gimbal/pidconfig');
    const untilMs = performance.now() + START_MS;
    for (;;) {
      try {
        const connection = await Connection.open(this.port);
        await connection.send(bytes);
        connection.close();
        return;
      } catch (error) {
        if (performance.now() > untilMs || this.#process.exitCode !== null) {
          const said = readFileSync(this.log, 'utf8')
            .trim()
            .replaceAll(/\s*\n\s*/g, ' | ');
          throw new Error(`${this.name} does not answer: ${said}`, { cause: error });
        }
        await delay(1);
      }
    }
  }

  /** One request on a connection of its own; the answer's JSON. */
  async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const connection = await Connection.open(this.port);
    const { status, text } = await connection.send(request(method, path, body));
    connection.close();
    if (status !== 200) throw new Error(`${method} ${path} of ${this.name}: ${status} ${text}`);
    return JSON.parse(text);
  }

  get rssMiB(): number {
    const [, kiB = ''] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
    return Number(kiB) / 1024;
  }

  /** Time on a processor of all its threads, to the nanosecond: what /proc/PID/stat counts is in steps of 10 ms. */
  get processorMs(): number {
    const threads = readdirSync(`/proc/${this.pid}/task`);
    const ns = threads.map(thread =>
      Number(readFileSync(`/proc/${this.pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
    );
    return ns.reduce((sum, one) => sum + one, 0) / 1e6;
  }

  get logBytes(): number {
    return statSync(this.log).size;
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill(signal);
    await exited;
  }
}

/** What Node is to run: `args` for a port. */
export interface Program {
  readonly name: string;
  /** A command that becomes Node. */
  readonly through?: string;
  args(port: number): string[];
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
