import { createServer } from 'node:http';
import { announce, gains, port } from './answers.mjs';

/** node:http and nothing else: what this machine can do. */
const server = createServer((request, response) => {
  const answer = (status, body) => {
    const text = JSON.stringify(body);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  };
  if (request.method === 'GET' && request.url === '/api/gimbal/pidconfig') return answer(200, gains);
  if (request.method !== 'POST' || request.url !== '/api/laser') return answer(404, {});
  const parts = [];
  request.on('data', part => parts.push(part));
  request.on('end', () => {
    const { action } = JSON.parse(Buffer.concat(parts));
    if (action === 'on' || action === 'off') answer(200, { state: action });
    else answer(400, {});
  });
});
server.listen(Number(port), '127.0.0.1', () => announce(server));
