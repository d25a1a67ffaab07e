import { createRequire } from 'node:module';
import { announce, gains, laserBody, modules, port } from './answers.mjs';

const fastify = createRequire(`${modules}/`)('fastify')();
fastify.get('/api/gimbal/pidconfig', async () => gains);
fastify.post('/api/laser', { schema: { body: laserBody } }, async ({ body }) => ({ state: body.action }));
await fastify.listen({ port: Number(port), host: '127.0.0.1' });
announce(fastify.server);
