// A client of Trunnion with Node's own fetch alone: call, watch, and stop until it is confirmed.
import { setTimeout as sleep } from 'node:timers/promises';

/** The status and the body of the answer. After a 503 it asks again, when Retry-After says so. */
async function call(base, method, path, body, tries = 3) {
  const sent = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(base + path, { method, signal: AbortSignal.timeout(2000), ...sent });
  if (answer.status !== 503 || tries <= 1) return [answer.status, await answer.json()];
  await sleep(1000 * Number(answer.headers.get('retry-after') ?? 1));
  return call(base, method, path, body, tries - 1);
}

/** Resolves when no motor can push any more. Nothing is more urgent, so it does not wait for Retry-After. */
async function stop(base) {
  for (; ; await sleep(100)) {
    const [status, answer] = await call(base, 'POST', '/api/stop', undefined, 1).catch(() => [0]);
    if (status === 200) return answer;
  }
}

/** Yields the name and the data of each event, for as long as the stream lasts. */
async function* events(base) {
  const { body } = await fetch(`${base}/api/events`);
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

const robot = process.argv[2];
console.log(...(await call(robot, 'POST', '/api/gimbal/mode/switch', { mode: 'auto' })));
const watched = events(robot);
console.log(...(await watched.next()).value);
await watched.return();
console.log(await stop(robot));
