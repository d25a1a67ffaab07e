// Drives a robot by keyboard, or by a gamepad (/dev/input/js0), with Node alone. Nothing is sent again.
import { createReadStream } from 'node:fs';

const KEYS = { w: { speed: 0.5 }, s: { speed: -0.5 }, a: { turn: 1 }, d: { turn: -1 } };
Object.assign(KEYS, { '␛[A': { pitch: 0.5 }, '␛[B': { pitch: -0.5 }, '␛[D': { yaw: 1 }, '␛[C': { yaw: -1 } });
const KEY = /␛+(?:\[\[.|[[O][0-?]*[^0-?]|[^␛[O])|[^␛]/gs; // A key may send several bytes, in several parts.
const STICKS = { turn: [0, -1], speed: [1, -0.5], yaw: [3, -1], pitch: [4, -0.5] }; // axes of js0, m/s and rad/s
const KEY_MS = 300; // A terminal reports no key-up, so a key drives for this long.
const [robot, joystick] = process.argv.slice(2);
const token = process.env.TRUNNION_TOKEN?.trim().replace(/[^!-~]/g, '?');
const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
const [id, held, pad] = [`drive.mjs ${crypto.randomUUID().slice(0, 6)}`, new Map(), new Map()];
async function call(method, path, body) {
  const asked = { method, headers, signal: AbortSignal.timeout(500), body: body && JSON.stringify(body) };
  const detail = 'No robot answers. Check the URL (http://HOST:8080) and the network.';
  const answer = await fetch(robot.replace(/\/*(#.*)?$/, path), asked).catch(() => undefined);
  return (await answer?.json().catch(() => undefined)) ?? { detail };
}
function ratesNow() {
  const fresh = [...held].filter(([, at]) => performance.now() - at < KEY_MS);
  if (joystick === undefined) return Object.assign({}, ...fresh.map(([key]) => key));
  const sticks = Object.entries(STICKS).map(([axis, [n, rate]]) => [axis, rate * (pad.get(`2 ${n}`) ?? 0)]);
  return Object.fromEntries(pad.get('1 4') ? sticks.filter(([, rate]) => Math.abs(rate) > 0.1) : []);
}
const fail = why => process.exit(console.error(why) ?? 1);
if (!robot) fail('usage: [TRUNNION_TOKEN=…] node drive.mjs URL [/dev/input/js0]. W A S D, arrows; q ends.');
const { t, detail, status } = await call('GET', '/api/match');
if (t === undefined) fail(detail + (status === 401 ? ' Set it as TRUNNION_TOKEN.' : ''));
/** The robot's clock minus ours, and the time for which a command may be under way, in ms. A restart changes it. */
const aheadOf = seconds => 1000 * seconds - performance.now() + 300;
let [aheadMs, atMs, typed, moved] = [aheadOf(t), 0, '', {}]; // `typed`: the beginning of a key
async function drive(rates) {
  const command = { holdMs: 200, id, notAfterT: (atMs + aheadMs) / 1000 };
  for (const [unit, axes] of Object.entries({ chassis: ['speed', 'turn'], gimbal: ['yaw', 'pitch'] }))
    if (axes.some(axis => axis in rates || axis in moved))
      command[unit] = Object.fromEntries(axes.map(axis => [axis, rates[axis] ?? 0])); // Others may have the other unit.
  moved = rates;
  const said = await call('POST', '/api/drive', command);
  if (said.code === 'too-late') aheadMs = aheadOf((await call('GET', '/api/match')).t ?? 0);
  return said;
}
if (!joystick) process.stdin.setRawMode?.(true);
const input = joystick ? createReadStream(joystick, { highWaterMark: 8 }) : process.stdin;
for (const gone of ['end', 'error']) input.on(gone, () => fail('Keyboard or gamepad is gone.'));
input.on('data', data => {
  if (joystick) return pad.set(`${data[6] & 3} ${data[7]}`, data.readInt16LE(4) / 32767);
  const text = typed + String(data).replaceAll('\x1b', '␛');
  const [whole] = text.match(new RegExp(`^(?:${KEY.source})*`, 's'));
  typed = text.slice(whole.length);
  const keys = whole.replaceAll('␛O', '␛[').match(KEY) ?? [];
  if (keys.includes('q') || text.includes('\x03')) void drive({}).then(() => process.exit());
  else if (performance.now() - atMs < KEY_MS)
    for (const key of keys) held.set(KEYS[key] ?? KEYS[key.toLowerCase()], performance.now()); // not after a freeze
});
for (; ; await new Promise(done => setTimeout(() => setImmediate(done), 40))) {
  atMs = performance.now();
  const rates = ratesNow();
  if (Object.keys({ ...moved, ...rates }).length > 0)
    process.stdout.write(`\r\x1b[K${JSON.stringify(await drive(rates))}`);
}
