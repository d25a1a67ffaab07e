import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort, suiteFolder } from '../support/daemon.js';
import { requirePrograms } from '../support/programs.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const SERIES = '{robot="ROBOT",__name__=~"trunnion_.*"}';

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(300);
}

async function textOf(url: string, query: Readonly<Record<string, string>> = {}): Promise<string> {
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`).catch(() => undefined);
  return answer?.ok === true ? answer.text() : '';
}

describe('the alert rules in docs/league/rules.yml', () => {
  it('fire for each fault, and never for a healthy robot', function () {
    requirePrograms(this, 'promtool');
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test/league/rules.yml'], {
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).to.equal(0);
  });
});

describe('Prometheus with docs/league/prometheus.yml', function () {
  this.timeout(120_000);
  const daemon = simulatedDaemon();
  const running = new Set<ChildProcess>();

  const run = (program: string, ...args: string[]): ChildProcess => {
    const child = spawn(program, args, { stdio: 'ignore' });
    running.add(child);
    return child;
  };
  const end = async (child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM') => {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill(signal);
    await ended;
    running.delete(child);
  };
  before(function () {
    requirePrograms(this, 'prometheus', 'victoria-metrics');
  });
  after(async () => {
    for (const child of running) await end(child, 'SIGKILL');
  });
  const folder = suiteFolder();

  it('sends every sample of a robot with tokens to the central store, even the samples taken while the store was down', async () => {
    const secret = await daemon.requireToken('p', 'spectator');
    const [storePort, port] = [await freePort(), await freePort()];
    await writeFile(join(folder(), 'token'), `${secret}\n`);
    await writeFile(join(folder(), 'password'), 'league-password\n');
    // The file as it is, with this machine's addresses, and more scrapes a second than at a venue.
    const config = (await readFile('docs/league/prometheus.yml', 'utf8'))
      .replace('scrape_interval: 15s', 'scrape_interval: 500ms')
      .replace('/etc/prometheus/trunnion-rules.yml', resolve('docs/league/rules.yml'))
      .replace('/etc/prometheus/store-password', join(folder(), 'password'))
      .replace('/etc/prometheus/ROBOT-token', join(folder(), 'token'))
      .replace('STORE:8428', `127.0.0.1:${storePort}`)
      .replace('ROBOT:8080', new URL(daemon.url).host);
    await writeFile(join(folder(), 'prometheus.yml'), config);
    const runStore = () =>
      run(
        'victoria-metrics',
        `-storageDataPath=${join(folder(), 'store')}`,
        `-httpListenAddr=127.0.0.1:${storePort}`,
        '-httpAuth.username=league',
        '-httpAuth.password=league-password',
      );
    const store = `http://league:league-password@127.0.0.1:${storePort}`;
    const venue = `http://127.0.0.1:${port}`;

    /** The samples as "series time", and the values. */
    const atVenue = async () => {
      const text = await textOf(`${venue}/api/v1/query`, { query: `${SERIES}[1h]` });
      const result: { metric: Record<string, string>; values: [number, string][] }[] =
        text === '' ? [] : JSON.parse(text).data.result;
      return new Map(
        result.flatMap(({ metric, values }) =>
          values.map(([s, value]) => [keyOf(metric, Math.round(1000 * s)), Number(value)] as const),
        ),
      );
    };
    const atStore = async (): Promise<ReadonlyMap<string, number>> => {
      const { username, password, origin, pathname } = new URL(`${store}/api/v1/export`);
      const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
      const query = new URLSearchParams({ 'match[]': SERIES });
      const answer = await fetch(`${origin}${pathname}?${query}`, { headers }).catch(() => undefined);
      const lines = answer?.ok === true ? (await answer.text()).split('\n').filter(Boolean) : [];
      return new Map(
        lines.flatMap(line => {
          const { metric, values, timestamps } = JSON.parse(line);
          return timestamps.map((ms: number, place: number) => [keyOf(metric, ms), values[place]] as const);
        }),
      );
    };
    const keyOf = ({ venue: _, ...labels }: Record<string, string>, ms: number) =>
      JSON.stringify([Object.entries(labels).sort(), ms]);

    const first = runStore();
    const prometheus = run(
      'prometheus',
      `--config.file=${join(folder(), 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder(), 'venue')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    );
    await until(async () => (await atStore()).size > 200);
    await end(first);
    const before = (await atVenue()).size;
    await until(async () => (await atVenue()).size > before + 500);
    const second = runStore();
    const scraped = await atVenue();
    const isThere = async () => {
      const there = await atStore();
      // The store keeps about 15 digits of a value.
      return [...scraped].every(([key, value]) => Math.abs((there.get(key) ?? Number.NaN) - value) < 1e-6);
    };
    await until(isThere);
    expect(scraped.size).to.be.greaterThan(700);
    await end(prometheus);
    await end(second);
  });
});
