import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../../scripts/bench/server.js';
import { NODE_OPTION } from '../../scripts/package/desk-package.js';
import { newFieldState } from '../../sim/field-tokens.js';
import type { DeskView, RobotView } from '../../src/desk/show.js';
import { verifyRecord } from '../../src/desk/verify.js';
import { realDisk } from '../../src/storage/disk.js';

const ROBOTS = 20;
/** The limit of each step in real time, on a busy machine. test/desk checks the promised times in simulated time. */
const STEP_MS = 20_000;
/** A sealed record ends with its hash. */
const SEALED = /-[0-9a-f]{16}$/;
const SEAL_MS = 12_000;
const MOST_MIB = 100;
/** The option that the service gives to a desk. */
function serviceOption(): string {
  const service = readFileSync('systemd/trunnion-desk.service', 'utf8');
  const [, option = ''] = /^Environment=NODE_OPTIONS=(.+)$/m.exec(service) ?? [];
  return option;
}

/** Match after match on a field of twenty robots. Each match has one fault. Every record must be whole. */
export async function soakDesk(folder: string, forMs: number, complaints: string[]): Promise<void> {
  // Each server is killed if this process ends.
  process.setMaxListeners(2 * ROBOTS);
  const robots: Server[] = [];
  const listed: object[] = [];
  for (let number = 1; number <= ROBOTS; number += 1) {
    const state = join(folder, `robot-${number}`);
    const { token } = await newFieldState(state);
    const args = (port: number) => ['dist/sim/main.js', '--port', String(port), '--state', state];
    const robot = await Server.start({ name: `robot-${number}`, args }, folder);
    robots.push(robot);
    listed.push({ name: `Robot ${number}`, address: `http://127.0.0.1:${robot.port}`, token });
  }
  const file = join(folder, 'field.yaml');
  const names = listed.map((_, index) => `Robot ${index + 1}`);
  const plan = { id: 'soak', robots: names, auto: 3, teleop: 600 };
  writeFileSync(file, JSON.stringify({ robots: listed, matches: [plan], pauseWithoutPage: 0 }), {
    mode: 0o600,
  });
  const state = join(folder, 'desk');
  const startDesk = () =>
    Server.start(
      {
        name: 'desk',
        args: port => [
          NODE_OPTION,
          serviceOption(),
          'dist/src/desk/main.js',
          ...[file, '--state', state, '--port', String(port)],
        ],
      },
      folder,
    );
  let desk = await startDesk();
  const view = () => desk.ask('GET', '/api/status') as Promise<DeskView>;
  const press = (name: string, body: object = {}) =>
    desk.ask('POST', `/api/${name}`, { ...body, press: randomBytes(8).toString('hex') });
  /** `again` presses once more for robots that a busy machine kept from taking a permission within its second. */
  const becomes = async (
    what: string,
    isSo: (view: DeskView) => boolean,
    again: (robot: RobotView) => Promise<unknown> = async () => undefined,
  ) => {
    const untilMs = performance.now() + STEP_MS;
    for (let polls = 1; ; polls += 1) {
      const now = await view();
      if (isSo(now)) return;
      if (polls % 20 === 0) await Promise.all(now.robots.map(again));
      if (performance.now() > untilMs) {
        const wrong = now.robots.map(({ name, phase, problems }) => `${name} ${phase} ${problems}`);
        complaints.push(`not ${what} within ${STEP_MS} ms: ${now.match?.lacks.length} lacks; ${wrong}`);
        return;
      }
      await delay(100);
    }
  };
  const all = (isSo: (robot: RobotView) => boolean) => (now: DeskView) => now.robots.every(isSo);
  const areIn = (...phases: readonly (string | null)[]) => all(({ phase }) => phases.includes(phase));
  const play = (when: string) =>
    becomes(`playing ${when}`, areIn('auto', 'teleop'), async ({ name, missed }) => {
      if (missed !== null) await press('match/join', { robot: name });
    });
  const lockAll = async () => {
    await press('lock');
    await becomes('locked', ({ lock }) => lock?.confirmed === ROBOTS);
    await press('unlock');
    await becomes(
      'unlocked',
      all(({ lock }) => lock === null),
      async ({ name, lock }) => lock !== null && press('robots/unlock', { robot: name }),
    );
  };
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    lock: lockAll,
    pause: async () => {
      await press('match/pause');
      await becomes('paused', areIn('pause'));
      await becomes('ready to go on', ({ match }) => match?.lacks.length === 0);
      await press('match/go-on');
      await play('after a pause');
    },
    'kill of the desk': async () => {
      await desk.stop('SIGKILL');
      desk = await startDesk();
      await play('after a kill of the desk');
    },
    'hung robot': async () => {
      const { pid } = robots[Math.floor(Math.random() * ROBOTS)] ?? desk;
      process.kill(pid, 'SIGSTOP');
      await press('lock');
      await becomes('locked but for a hung robot', ({ lock }) => lock?.confirmed === ROBOTS - 1);
      process.kill(pid, 'SIGCONT');
      await lockAll();
    },
  };
  let matches = 0;
  let mostMiB = 0;
  for (const beganMs = performance.now(); performance.now() - beganMs < forMs; matches += 1) {
    const [fault = '', suffer] = Object.entries(faults)[matches % 4] ?? [];
    await press('match/load', { match: 'soak' });
    await becomes(`ready before ${fault}`, ({ match }) => match?.lacks.length === 0);
    await press('match/start');
    await play(`before ${fault}`);
    await delay(Math.random() * 5000);
    await suffer?.();
    await press('match/end');
    await becomes(`ended after ${fault}`, areIn('ended'));
    await press('match/release');
    await becomes(`released after ${fault}`, areIn('none'), async ({ missed }) => {
      if (missed !== null) await press('match/release');
    });
    mostMiB = Math.max(mostMiB, desk.rssMiB);
    await delay(SEAL_MS);
  }
  await desk.stop();
  for (const robot of robots) await robot.stop();
  const records = readdirSync(join(state, 'records'));
  for (const name of records) {
    if (!SEALED.test(name)) complaints.push(`not sealed: ${name}`);
    for (const { of, is, why } of await verifyRecord(realDisk, join(state, 'records', name)))
      if (is !== 'whole') complaints.push(`${name}: ${of} is ${is}: ${why}`);
  }
  if (mostMiB > MOST_MIB) complaints.push(`the desk took ${mostMiB.toFixed(0)} MiB`);
  if (records.length !== matches) complaints.push(`${records.length} records of ${matches} matches`);
  console.log(`${matches} matches of ${ROBOTS} robots; the desk took at most ${mostMiB.toFixed(0)} MiB`);
}
