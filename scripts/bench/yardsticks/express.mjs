import { createRequire } from 'node:module';
import { announce, gains, modules, port } from './answers.mjs';

const express = createRequire(`${modules}/`)('express');
const app = express();
app.use(express.json());
app.get('/api/gimbal/pidconfig', (_, response) => response.json(gains));
app.post('/api/laser', ({ body }, response) => {
  if (body.action !== 'on' && body.action !== 'off') return response.status(400).end();
  return response.json({ state: body.action });
});
const server = app.listen(Number(port), '127.0.0.1', () => announce(server));
