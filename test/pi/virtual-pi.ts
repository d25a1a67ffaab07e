import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** GPIO level register (lines 0 to 31) of the Pi's processor, in its own address space. */
const LEVEL_REGISTER = 0x3f200034;
const LASER_BIT = 17;

export async function until(what: string, limitMs: number, holds: () => Promise<boolean> | boolean) {
  const start = performance.now();
  while (!(await holds())) {
    if (performance.now() - start > limitMs) throw new Error(`${what}: not within ${limitMs} ms`);
    await new Promise(resolve => setTimeout(resolve, 10));
  }
  return performance.now() - start;
}

/** A Raspberry Pi 3 in QEMU, seen from outside: serial console, pin level, I2C wire. */
export class VirtualPi {
  readonly #disk: string;
  readonly #folder: string;
  #qemu: ChildProcess | undefined;
  #console: Socket | undefined;
  #heard = '';
  #commands = 0;

  constructor(disk: string, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** `slaves`: the I2C addresses at which there is a memory. */
  async powerOn(slaves: readonly number[]): Promise<void> {
    this.#heard = '';
    const socket = join(this.#folder, 'console.sock');
    // A file left from an earlier boot would look like the new one.
    rmSync(socket, { force: true });
    this.#qemu = spawn('test/pi/boot', [this.#disk, this.#folder, ...slaves.map(String)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    await until('QEMU starts', 10_000, () => existsSync(socket));
    this.#console = connect(socket);
    this.#console.on('data', data => {
      this.#heard += data.toString();
    });
  }

  /** Acts like pulling the plug: the guest's unsynced data is lost. */
  async cutPower(): Promise<void> {
    const qemu = this.#qemu;
    if (qemu === undefined || qemu.exitCode !== null || qemu.signalCode !== null) return;
    const gone = once(qemu, 'exit');
    qemu.kill('SIGKILL');
    await gone;
    this.#console?.destroy();
  }

  /** Shuts the guest down cleanly. */
  async powerOff(limitMs: number): Promise<void> {
    this.#console?.write('systemctl poweroff\n');
    await until('the guest powers off', limitMs, () => this.#qemu?.exitCode !== null);
    this.#console?.destroy();
  }

  async logIn(limitMs: number): Promise<void> {
    await until('a login prompt', limitMs, () => /login: $/.test(this.#heard));
    this.#console?.write('root\n');
    await until('a shell', 600_000, () => /# \S*$/.test(this.#heard.slice(-40)));
    await this.run('stty -echo cols 500; export TERM=dumb SYSTEMD_COLORS=0 SYSTEMD_PAGER=cat');
  }

  /** The output of the console since the last command was sent. */
  get heard(): string {
    return this.#heard;
  }

  /** Sends a command without waiting for its end. */
  start(command: string): void {
    this.#heard = '';
    this.#console?.write(`${command}\n`);
  }

  /** Sends a request to the daemon from inside the guest. The status is 0 if there is no answer. */
  async ask(path: string, body?: unknown, token?: string) {
    const bearer = token === undefined ? '' : `-H 'authorization: Bearer ${token}'`;
    const data = body === undefined ? '' : `-H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
    const answer = await this.run(
      `curl -s -m 60 -w '\\n%{http_code}' ${bearer} ${data} localhost:8080${path}`,
    );
    const [status = '', ...text] = answer.split('\n').reverse();
    return { status: Number(status), body: text.length > 0 && text[0] ? JSON.parse(text[0]) : undefined };
  }

  /** Runs a command as root on the serial console. Returns its output, whatever the exit code. */
  async run(command: string, limitMs = 600_000): Promise<string> {
    this.#commands += 1;
    const mark = `mark-${this.#commands}`;
    this.#heard = '';
    // with quotes, so that the echo of the command does not look like its end
    this.#console?.write(`echo ${mark}'-'begins; { ${command}; } 2>&1; echo ${mark}'-'done\n`);
    await until(`"${command}"`, limitMs, () => this.#heard.includes(`${mark}-done`));
    const output = this.#heard.split(`${mark}-begins`)[1]?.split(`${mark}-done`)[0] ?? '';
    return output.replaceAll('\r', '').trim();
  }

  async laserLevel(): Promise<0 | 1> {
    const socket = connect(join(this.#folder, 'qmp.sock'));
    try {
      const lines = createInterface(socket)[Symbol.asyncIterator]();
      const answer = async () => {
        for (;;) {
          const message = JSON.parse((await lines.next()).value);
          if ('return' in message) return message.return;
          if ('error' in message) throw new Error(JSON.stringify(message.error));
        }
      };
      const ask = (execute: string, args = {}) =>
        socket.write(`${JSON.stringify({ execute, arguments: args })}\n`);
      ask('qmp_capabilities');
      await answer();
      ask('human-monitor-command', { 'command-line': `xp /1xw ${LEVEL_REGISTER}` });
      const word = /: (0x[0-9a-f]+)/.exec(await answer())?.[1];
      return (Number(word) >> LASER_BIT) & 1 ? 1 : 0;
    } finally {
      socket.destroy();
    }
  }

  /** Every write on the bus since power-on: the address, and the bytes after it, register first. */
  writesOnTheWire(): { address: number; bytes: number[] }[] {
    const writes: { address: number; bytes: number[] }[] = [];
    for (const line of readFileSync(join(this.#folder, 'trace.log'), 'utf8').split('\n')) {
      const [, event, address, byte] = /^i2c_(\w+) \w+\(addr:(\w+)\)(?: data:(\w+))?/.exec(line) ?? [];
      if (event === 'event' && line.includes('start(')) writes.push({ address: Number(address), bytes: [] });
      else if (event === 'send') writes.at(-1)?.bytes.push(Number(byte));
    }
    return writes.filter(({ bytes }) => bytes.length > 1);
  }
}

/** Writes host files into the root file system of `disk`. The guest must not be running. */
export function putOnDisk(disk: string, files: readonly (readonly [from: string, to: string])[]): void {
  for (const [from, to] of files) {
    execFileSync('debugfs', ['-w', '-R', `write ${from} ${to}`, disk], { stdio: 'ignore' });
  }
}
