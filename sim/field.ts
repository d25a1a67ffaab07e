#!/usr/bin/env node
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { simulatorSocket } from '../src/access/root-socket.js';
import { isObject, parsedJson } from '../src/core/json.js';
import { newFieldState } from './field-tokens.js';

/** A desk with simulated robots: `npm run desk -- --simulate 4`. Without `--simulate` it starts the desk alone. */
const SIMULATOR = fileURLToPath(new URL('./main.js', import.meta.url));
const DESK = fileURLToPath(new URL('../src/desk/main.js', import.meta.url));

const robots: ChildProcess[] = [];
/** The state folder of each robot. */
const states: string[] = [];
let desk: ChildProcess | undefined;
/** The folder with the state of all robots. */
let folder: string | undefined;
let isEnding = false;
/** A desk or a robot that hangs is killed after this time. */
const ENDS_WITHIN_MS = 3000;

/** Starts a simulated robot on a free port of this machine. Resolves with its address. */
async function startRobot(state: string): Promise<string> {
  if (isEnding) throw new Error('a robot was ended before it started');
  const child = spawn(process.execPath, [SIMULATOR, '--port', '0', '--state', state], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  robots.push(child);
  states.push(state);
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('a simulated robot did not start')));
    createInterface({ input: child.stdout }).on('line', line => {
      const said = parsedJson(line);
      if (isObject(said) && typeof said.url === 'string') resolve(said.url);
    });
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill();
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  await exit;
  clearTimeout(timer);
}

/** Ends the desk and then the robots, removes their state, and then ends this program. */
async function end(code: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  if (desk !== undefined) await ended(desk);
  await Promise.all(robots.map(ended));
  // A robot that was killed leaves its socket.
  for (const path of [...states.map(simulatorSocket), ...(folder === undefined ? [] : [folder])])
    rmSync(path, { recursive: true, force: true });
  process.exit(code);
}

async function simulate(count: number, port: number, others: readonly string[]): Promise<void> {
  const ours = mkdtempSync(join(tmpdir(), 'trunnion-field-'));
  folder = ours;
  const field = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const state = join(ours, `robot-${index + 1}`);
      const { token, driver } = await newFieldState(state);
      const address = await startRobot(state);
      return { name: `Robot ${index + 1}`, address, token, driver };
    }),
  );
  for (const { name, address, driver } of field)
    process.stdout.write(`${name}: its driver's page is ${address}/#token=${driver}\n`);
  const names = field.map(({ name }) => name);
  const file = join(ours, 'field.yaml');
  const content = {
    port,
    robots: field.map(({ name, address, token }) => ({ name, address, token })),
    matches: [
      { id: 'practice', robots: names, auto: 15, teleop: 60 },
      { id: 'short', robots: names.slice(0, 2), auto: 5, teleop: 10 },
    ],
  };
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(content, undefined, 2), { mode: 0o600 });
  startDesk([file, '--state', join(ours, 'desk'), ...others]);
}

function startDesk(args: readonly string[]): void {
  if (isEnding) return;
  desk = spawn(process.execPath, [DESK, ...args], { stdio: 'inherit' });
  desk.once('exit', code => void end(code ?? 1));
}

/** Takes an option with a number out of the arguments. Returns `otherwise` if it is not there. */
function taken(args: string[], name: string, otherwise: number): number {
  const at = args.indexOf(name);
  if (at < 0) return otherwise;
  const [, text = ''] = args.splice(at, 2);
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

const args = process.argv.slice(2).flatMap(one => (/^--(simulate|port)=/.test(one) ? one.split('=') : one));
const asksForHelp = args.some(one => one === '--help' || one === '-h');
if (asksForHelp)
  process.stdout.write(`npm run desk -- --simulate N   Serve the page of N simulated robots, 1 to 20

`);
const isSimulated = args.includes('--simulate') && !asksForHelp;
const count = taken(args, '--simulate', 0);
const port = isSimulated ? taken(args, '--port', 8090) : 0;
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void end(0));
if (!isSimulated) startDesk(args);
else if (count >= 1 && count <= 20 && port <= 65_535) {
  simulate(count, port, args).catch((error: unknown) => {
    if (!isEnding) process.stderr.write(`${String(error)}\n`);
    void end(1);
  });
} else {
  process.stderr.write('--simulate takes a number of robots from 1 to 20, and --port a port\n');
  process.exit(2);
}
