import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The daemon as a user runs it: a separate process, known by its output. */
export class Child {
  readonly process: ChildProcess;
  readonly lines: string[] = [];
  readonly exited: Promise<number | string>;
  readonly #listeners = new Set<(line: string) => void>();

  constructor(entry: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.process = spawn(process.execPath, [`dist/${entry}`, ...args], {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', line => {
        this.lines.push(line);
        for (const listener of this.#listeners) listener(line);
      });
    }
    this.exited = once(this.process, 'close').then(([code, signal]) => code ?? signal);
  }

  /** The first match in the output so far, or in later output. Rejects if the process ends without a match. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    const found = new Promise<RegExpExecArray>(resolve => {
      const look = (line: string) => {
        const match = pattern.exec(line);
        if (match !== null) resolve(match);
      };
      this.lines.forEach(look);
      this.#listeners.add(look);
    });
    const ended = this.exited.then(end => {
      throw new Error(`ended with ${end} before ${pattern}:\n${this.lines.join('\n')}`);
    });
    return Promise.race([found, ended]);
  }

  async url(): Promise<string> {
    const [, url = ''] = await this.line(/(http:\/\/[^\s"]+:\d+)/);
    return url;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<number | string> {
    this.process.kill(signal);
    return this.exited;
  }
}

/** Returns a function that starts a program. After each test, the programs of that test are killed. */
export function children(): (...program: ConstructorParameters<typeof Child>) => Child {
  const running: Child[] = [];
  afterEach(() => Promise.all(running.splice(0).map(child => child.kill())));
  return (...program) => {
    const child = new Child(...program);
    running.push(child);
    return child;
  };
}
