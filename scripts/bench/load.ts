import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Load {
  readonly port: number;
  /** Each connection sends these in turns. */
  readonly requests: readonly Buffer[];
  readonly connections: number;
  /** The number of addresses that share the connections. */
  readonly addresses?: number;
}

const CROWD = fileURLToPath(new URL('crowd.js', import.meta.url));
export const HAS_WRK = spawnSync('wrk', ['--version'], { stdio: 'ignore' }).error === undefined;

/**
 * Saturates a server from a process of its own: `wrk` if it is installed, otherwise a client in Node, which may be slower
 * than the server. The returned function ends the load and returns the answers per second.
 */
export function load(
  folder: string,
  { port, requests, connections, addresses = 1 }: Load,
): () => Promise<number> {
  const texts = requests.map(bytes => JSON.stringify(bytes.toString()));
  const script = join(folder, 'requests.lua');
  // JSON escapes these requests as Lua does.
  writeFileSync(
    script,
    `local requests = {${texts.join()}}\nlocal last = 0\n` +
      'request = function() last = last % #requests + 1; return requests[last] end\n',
  );
  const url = `http://127.0.0.1:${port}`;
  // wrk has one address.
  const [program, ...args] =
    HAS_WRK && addresses === 1
      ? ['wrk', '-t1', `-c${connections}`, '-d1h', '-s', script, url]
      : [process.execPath, CROWD, ...[port, connections, addresses].map(String), ...texts];
  const client = spawn(program ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  client.stdout.setEncoding('utf8').on('data', text => {
    printed += text;
  });
  const closed = once(client, 'close');
  const end = () => client.kill('SIGKILL');
  process.once('exit', end);
  return async () => {
    client.kill('SIGINT');
    await closed;
    process.off('exit', end);
    const [, perSecond] = /Requests\/sec: +([\d.]+)/.exec(printed) ?? [];
    if (perSecond === undefined) throw new Error(`the load of ${url} has ended early: ${printed}`);
    return Number(perSecond);
  };
}
