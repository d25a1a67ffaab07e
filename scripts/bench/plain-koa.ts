import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { gainsBody } from './gains-body.js';

/** A plain Koa stack with the two calls that are compared. It checks nothing and logs nothing. */
const router = new Router();
const gains = gainsBody('gimbal', 0);
router.get('/healthz', ctx => {
  ctx.body = { status: 'ok' };
});
router.get('/api/gimbal/pidconfig', ctx => {
  ctx.body = gains;
});
router.post('/api/laser', ctx => {
  ctx.body = { state: 'off' };
});
const app = new Koa().use(bodyParser()).use(router.routes()).use(router.allowedMethods());
app.listen(Number(process.argv[2]), '127.0.0.1');
