// A client of Trunnion with Node's own fetch alone: call, watch, and stop until the stop is confirmed.
import { setTimeout as sleep } from 'node:timers/promises';

const token = process.env.TRUNNION_TOKEN;
const authorization = token && { authorization: `Bearer ${token.trim().replace(/[^!-~]/g, '?')}` };
const NO_ROBOT = 'No robot answers. Check the URL (http://HOST:8080) and the network.';

/** The address of a page may end in a slash and in #token=… */
const address = (base, path) => base.replace(/\/*(#.*)?$/, path);

/** Resolves with the status and the body of the answer. Repeats a call that got 503, after the time in Retry-After. */
async function call(base, method, path, body, tries = 3) {
  const headers = { ...authorization, ...(body && { 'content-type': 'application/json' }) };
  const signal = AbortSignal.timeout(2000);
  const answer = await fetch(address(base, path), {
    method,
    headers,
    signal,
    body: body && JSON.stringify(body),
  });
  if (answer.status !== 503 || tries <= 1) return [answer.status, await answer.json()];
  await sleep(1000 * Number(answer.headers.get('retry-after') ?? 1));
  return call(base, method, path, body, tries - 1);
}

/** Resolves when no motor can push, or when the robot refuses. Ignores Retry-After: nothing is more urgent. */
async function stop(base) {
  for (let said = false; ; await sleep(100)) {
    const [status, answer] = await call(base, 'POST', '/api/stop', undefined, 1).catch(() => []);
    if (status < 500) return [status, answer];
    if (status === undefined && !said) console.error(NO_ROBOT, 'Trying again …');
    said ||= status === undefined;
  }
}

/** Yields the name and the data of each event until the stream ends. */
async function* events(base) {
  const { body } = await fetch(address(base, '/api/events'), { headers: { ...authorization } });
  let text = '';
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + part).split('\n\n');
    text = blocks.pop();
    for (const block of blocks) {
      const event = /^event: (.*)\ndata: (.*)$/.exec(block);
      if (event) yield [event[1], JSON.parse(event[2])];
    }
  }
}

function fail(why) {
  console.error(why);
  process.exit(1);
}

const [robot = '', act, ...more] = process.argv.slice(2);
if (!robot.startsWith('http') || (act ?? 'stop') !== 'stop' || more.length > 0)
  fail('usage: [TRUNNION_TOKEN=…] node trunnion.mjs URL [stop]');
if (act === 'stop') {
  const [code, answer] = await stop(robot);
  console.log(code, answer);
  if (code !== 200) fail('NOT STOPPED. If the robot moves or its laser is lit, cut its power.');
} else {
  const [code, status] = await call(robot, 'GET', '/api/status').catch(() => fail(NO_ROBOT));
  if (code !== 200) fail(status.detail + (code === 401 ? ' Set it as TRUNNION_TOKEN.' : ''));
  // The gimbal's own mode: the call shows how it is done, and changes nothing.
  console.log(...(await call(robot, 'POST', '/api/gimbal/mode/switch', { mode: status.gimbal.mode })));
  const watched = events(robot);
  console.log(...(await watched.next()).value);
  await watched.return();
}
