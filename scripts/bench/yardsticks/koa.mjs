import Router from '@koa/router';
import { Ajv } from 'ajv';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { announce, gains, laserBody, port } from './answers.mjs';

/** The daemon's own libraries, as their documentation shows them. */
const valid = new Ajv().compile(laserBody);
const router = new Router();
router.get('/api/gimbal/pidconfig', ctx => {
  ctx.body = gains;
});
router.post('/api/laser', ctx => {
  if (!valid(ctx.request.body)) ctx.throw(400);
  ctx.body = { state: ctx.request.body.action };
});
const server = new Koa()
  .use(bodyParser())
  .use(router.routes())
  .use(router.allowedMethods())
  .listen(Number(port), '127.0.0.1', () => announce(server));
