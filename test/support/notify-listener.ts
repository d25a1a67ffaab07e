import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

/** Prints the sender and the content of each datagram, as systemd receives them. The kernel names the sender. */
const PROGRAM = `import socket,struct,sys
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.setsockopt(socket.SOL_SOCKET,socket.SO_PASSCRED,1)
s.bind(sys.argv[1]); print('0 bound',flush=True)
while True:
  data,extra,_,_=s.recvmsg(4096,64)
  print(struct.unpack('iii',extra[0][2])[0],data.decode().strip(),flush=True)`;

/** A real socket that replaces systemd's. */
export class NotifyListener {
  readonly path: string;
  readonly #folder = mkdtempSync(join(tmpdir(), 'trunnion-notify-'));
  readonly #process: ChildProcess;
  readonly #lines: NodeJS.AsyncIterator<string>;

  constructor() {
    this.path = join(this.#folder, 'notify');
    const child = spawn('python3', ['-c', PROGRAM, this.path], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    const lines: Interface = createInterface({ input: child.stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** The first answer is `bound`, and has no sender. */
  async next(): Promise<{ readonly pid: number; readonly message: string }> {
    const { value } = await this.#lines.next();
    const [pid = '', ...words] = String(value).split(' ');
    return { pid: Number(pid), message: words.join(' ') };
  }

  async close(): Promise<void> {
    this.#process.kill();
    if (this.#process.exitCode === null) await once(this.#process, 'exit');
    rmSync(this.#folder, { recursive: true });
  }
}
