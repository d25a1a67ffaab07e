import { expect } from 'chai';
import { FakeDaemon, NOBODY, OPERATOR, refused } from './fake-daemon.js';
import { FakePage } from './fake-page.js';

describe('the person at the page', () => {
  const closed = () => {
    const daemon = new FakeDaemon();
    daemon.session = NOBODY;
    daemon.tokens.set('secret', OPERATOR);
    return FakePage.open({ daemon });
  };
  const name = ({ model }: FakePage) => model.access.session.value?.name;

  it('has no name before a token is entered, and a wrong token is refused', async () => {
    const page = await closed();
    expect([page.model.access.isShut, page.model.deafness.value]).to.deep.equal([
      true,
      'Nobody is logged in',
    ]);
    const asked = page.sentTo(/session/, 'GET').length;
    expect(await page.model.access.enter('wrong')).to.equal(false);
    expect(page.sentTo(/session/, 'GET')).to.have.length(asked + 1);
    expect(page.model.access.action.refusal.value?.detail).to.equal('This token is not known.');
    expect(await page.model.access.enter('secret')).to.equal(true);
    await page.wait(1000);
    expect([page.model.access.isShut, name(page), page.model.fresh.value]).to.deep.equal([false, 'op', true]);
  });

  it('sees before the login that the robot is simulated', async () => {
    const daemon = new FakeDaemon();
    daemon.session = { ...NOBODY, simulated: true };
    const { model } = await FakePage.open({ daemon });
    expect([model.status.value, model.isSimulated]).to.deep.equal([undefined, true]);
    expect((await closed()).model.isSimulated).to.equal(false);
  });

  it('is the one of the newest answer, even if an older answer comes after it', async () => {
    const page = await closed();
    page.let(/session/, 'answer held', 'GET');
    await page.wait(6000);
    const [older] = page.sentTo(/session/, 'GET').slice(-1);
    await page.model.access.enter('secret');
    older!.deliver();
    await page.wait(10);
    expect(name(page)).to.equal('op');
  });

  it('is asked for again when a request is refused for a missing right, and when access changes', async () => {
    const page = await FakePage.open();
    page.daemon.session = { ...OPERATOR, rights: ['read'] };
    await page.wait(200);
    expect(page.model.may('drive')).to.equal(false);
    page.daemon.session = NOBODY;
    page.daemon.override = (_, path) =>
      /mode/.test(path) ? { status: 401, body: { code: 'no' } } : undefined;
    await page.model.switchMode('gimbal', 'auto');
    await page.wait(10);
    expect(page.model.access.isShut).to.equal(true);
  });

  it('stays logged in if the logout fails, and the page reloads after a logout unless a STOP is unanswered', async () => {
    const page = await closed();
    await page.model.access.enter('secret');
    page.fate = () => 'failed';
    await page.model.leave();
    expect([name(page), page.reloads]).to.deep.equal(['op', 0]);
    expect(page.strip).to.match(/Session The daemon does not answer/);
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.model.leave();
    expect([name(page), page.reloads]).to.deep.equal([null, 0]);
    page.mend();
    await page.wait(1000);
    await page.model.access.enter('secret');
    await page.model.leave();
    expect(page.reloads).to.equal(1);
  });
});

describe('a STOP that needs a right', () => {
  const open = async (daemon = new FakeDaemon()) => {
    daemon.session = NOBODY;
    daemon.stopNeedsRight = true;
    daemon.tokens.set('secret', OPERATOR);
    daemon.tokens.set('other', { ...OPERATOR, name: 'spec', rights: ['read'] });
    const page = await FakePage.open({ daemon });
    page.model.pressStop();
    await page.wait(300);
    return page;
  };

  it('is shown as not confirmed, and sent as soon as a person with the right has logged in', async () => {
    const page = await open();
    expect(page.strip).to.match(
      /^alarm: STOP is not confirmed\. Be ready .* Only an operator or referee can send it\./,
    );
    await page.wait(30_000);
    expect(page.sentTo(/stop/)).to.have.length(1);
    expect(page.model.isOwing).to.equal(true);
    await page.model.access.enter('other');
    await page.wait(200);
    expect([page.sentTo(/stop/).length, page.daemon.stopped]).to.deep.equal([2, false]);
    await page.model.access.enter('secret');
    await page.wait(1000);
    expect([page.daemon.stopped, page.model.isOwing]).to.deep.equal([true, false]);
    expect(page.strip).to.match(/^bad: Stopped:/);
  });

  it('is not sent again if the daemon refused it as cross-site', async () => {
    const daemon = new FakeDaemon();
    daemon.override = (_, path) => (/stop/.test(path) ? refused(403, 'cross-site') : undefined);
    const page = await open(daemon);
    await page.model.access.enter('secret');
    await page.wait(1000);
    expect(page.sentTo(/stop/)).to.have.length(1);
  });

  it('expires a minute after the press, and asks for another press', async () => {
    const page = await open();
    await page.wait(61_000);
    expect(page.strip).to.match(/STOP of 00:00:00 was refused\. Press it again if it is still wanted\./);
    await page.model.access.enter('secret');
    await page.wait(2000);
    expect([page.sentTo(/stop/).length, page.daemon.stopped]).to.deep.equal([1, false]);
    page.model.pressStop();
    await page.wait(200);
    expect(page.daemon.stopped).to.equal(true);
    expect(page.strip).not.to.match(/refused/);
  });

  it('has ended when another caller has stopped the robot', async () => {
    const page = await open();
    page.daemon.session = { ...OPERATOR, rights: ['read'] };
    await page.wait(1000);
    expect(page.strip).to.match(/STOP is not confirmed/);
    page.daemon.stopped = true;
    await page.wait(1000);
    page.daemon.stopped = false;
    await page.wait(200);
    expect(page.strip).to.equal('');
  });
});
