import { Ajv } from 'ajv';
import { expect } from 'chai';
import { UNIT_LIST } from '../../src/core/units.js';
import { status } from '../../src/schemas/status.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('every answer', () => {
  const daemon = simulatedDaemon();

  it('is what the document says', async () => {
    for (const { name } of UNIT_LIST) {
      await eventually(async () => (await daemon.get(`/api/${name}/excitation`)).status === 200);
    }
    const document = (await daemon.get('/api/openapi.json')).body;
    const ajv = new Ajv({ strict: false, allErrors: true }).addSchema(document, 'api');
    const paths = Object.entries<{ get?: unknown }>(document.paths);
    // Event streams go on, there is no step yet, and what is compared has to be named.
    const read = paths.filter(
      ([path, { get }]) => get !== undefined && path !== '/api/events' && !/\/(step|compare)$/.test(path),
    );
    expect(read).to.have.length.of.at.least(10);
    for (const [path] of read) {
      const inPointer = path.replaceAll('/', '~1');
      const { status, body } = await daemon.get(path.endsWith('/compare') ? `${path}?a=0&b=0` : path);
      expect([path, status]).to.deep.equal([path, 200]);
      const schema = `/paths/${inPointer}/get/responses/200/content/application~1json/schema`;
      expect(ajv.validate(`api#${schema}`, body), `${path}: ${ajv.errorsText()}`).to.equal(true);
    }
    for (const refused of [
      await daemon.get('/api/nothing'),
      await daemon.post('/api/laser', { action: 1 }),
    ]) {
      expect(ajv.validate('api#/components/schemas/Problem', refused.body), ajv.errorsText()).to.equal(true);
    }
  });
});

describe('the document', () => {
  const daemon = simulatedDaemon();

  it('keeps nobody waiting while it is made for the first time', async () => {
    const answered: string[] = [];
    const ask = async (path: string) => {
      await daemon.get(path);
      answered.push(path);
    };
    await Promise.all([ask('/api/openapi.json'), ask('/healthz')]);
    expect(answered).to.deep.equal(['/healthz', '/api/openapi.json']);
  });

  it('names every refusal that a call may meet', async () => {
    const { paths } = (await daemon.get('/api/openapi.json')).body;
    const lists = (path: string, status: number, code: string) =>
      paths[path].post.responses[status]?.description.includes(`(\`${code}\`)`);
    expect(lists('/api/laser', 503, 'closing'), 'in the grace of an end').to.equal(true);
    for (const path of ['/api/stop', '/api/match', '/api/match/lock'])
      expect(lists(path, 503, 'laser-unavailable'), `a pin lost while lit, ${path}`).to.equal(true);
    for (const path of ['/api/resume', '/api/laser', '/api/chassis/pidconfig', '/api/chassis/profiles'])
      expect(lists(path, 400, 'caller-gone'), `half closed, ${path}`).to.equal(true);
    for (const path of ['/api/stop', '/api/match', '/api/session'])
      expect(lists(path, 400, 'caller-gone') ?? false, path).to.equal(false);
    await eventually(
      async () => (await daemon.post('/api/gimbal/mode/switch', { mode: 'debug' })).status === 200,
    );
    expect((await daemon.post('/api/gimbal/autotune', { loop: 'angle_yaw' })).status).to.equal(202);
    const { status, body } = await daemon.post('/api/laser', { action: 'on' });
    expect([status, body.code, lists('/api/laser', status, body.code)]).to.deep.equal([
      409,
      'tune-running',
      true,
    ]);
  });
});

describe('status', () => {
  const daemon = simulatedDaemon();
  const laser = async () => (await daemon.get('/api/status')).body.laser;

  it('is what its schema says, whether all is well or not', async () => {
    const isStatus = new Ajv({ allErrors: true, strictTypes: false }).compile(status);
    const check = async () => {
      const { body } = await daemon.get('/api/status');
      expect(isStatus(body), JSON.stringify(isStatus.errors)).to.equal(true);
      return body;
    };
    await check();
    daemon.sim.inject({ target: 'chassis', fault: 'unplug' });
    daemon.sim.inject({ target: 'pin', fault: 'nack' });
    await eventually(async () => !(await check()).chassis.online);
    daemon.sim.inject({ target: 'chassis', fault: 'plug' });
    daemon.sim.inject({ target: 'pin', fault: 'clear' });
    await eventually(async () => (await check()).chassis.online);
  });

  it('claims no dark that the pin does not prove', async () => {
    expect(await laser()).to.deep.equal({ state: 'off', light: 'dark' });
    daemon.sim.inject({ target: 'pin', fault: 'nack' });
    expect(await laser()).to.deep.include({ state: null, light: 'fault' });
    daemon.sim.inject({ target: 'pin', fault: 'clear' });
    await daemon.post('/api/laser', { action: 'on' });
    expect(await laser()).to.deep.equal({ state: 'on', light: 'on' });
    await daemon.post('/api/laser', { action: 'off' });
  });

  it('claims torque as the controller does, and nothing of one that is away', async () => {
    const torque = async () => (await daemon.get('/api/status')).body.gimbal.torque;
    await eventually(async () => (await torque()) === 'on');
    await daemon.post('/api/stop');
    await eventually(async () => (await torque()) === 'off');
    await daemon.post('/api/resume');
    await eventually(async () => (await torque()) === 'on');
  });
});
