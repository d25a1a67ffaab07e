import { expect } from 'chai';
import { CALLERS, type Caller, tokenListOf } from '../support/callers.js';
import type { Settings } from '../support/clocked-daemon.js';
import { type FakePage, servedPage } from './fake-page.js';
import type { ServingDaemon } from './page-daemon.js';

type Page = FakePage<ServingDaemon>;
const enter = (page: Page, who: Caller | 'wrong') =>
  page.during(page.model.access.enter(who === 'wrong' ? 'wrong' : CALLERS[who].secret));

describe('the person at the page', () => {
  const closed = (settings: Settings = {}) => servedPage({ tokens: true, ...settings });
  const name = ({ model }: Page) => model.access.session.value?.name;

  it('can log in only with a known token, and is then shown under the name of that token', async () => {
    const page = await closed();
    expect(page.model.access.isShut).to.equal(true);
    expect(page.model.deafness.value).to.equal('Nobody is logged in');
    const asked = page.sentTo(/session/, 'GET').length;
    expect(await enter(page, 'wrong')).to.equal(false);
    expect(page.sentTo(/session/, 'GET')).to.have.length(asked + 1);
    expect(page.model.access.action.refusal.value?.code).to.equal('token-unknown');
    expect(await enter(page, 'operator')).to.equal(true);
    await page.wait(1000);
    expect(page.model.access.isShut).to.equal(false);
    expect(name(page)).to.equal('operator');
    expect(page.model.fresh.value).to.equal(true);
  });

  it('sees before the login whether the robot is simulated', async () => {
    const { model } = await closed();
    expect([model.status.value, model.isSimulated]).to.deep.equal([undefined, true]);
    expect((await closed({ simulated: false })).model.isSimulated).to.equal(false);
  });

  it('stays logged in if a session request from before the login is answered only after the login', async () => {
    const page = await closed();
    page.let(/session/, 'answer held', 'GET');
    await page.wait(6000);
    const [older] = page.sentTo(/session/, 'GET').slice(-1);
    await enter(page, 'operator');
    older!.deliver();
    await page.wait(10);
    expect(name(page)).to.equal('operator');
  });

  it("must log in when the daemon gets its first tokens, and again after the person's token was removed", async () => {
    const page = await servedPage();
    page.daemon.put('tokens.json', tokenListOf(['operator', 'spectator']));
    await page.wait(6000);
    expect(page.model.access.isShut).to.equal(true);
    await enter(page, 'spectator');
    expect(page.model.may('drive')).to.equal(false);
    page.daemon.put('tokens.json', tokenListOf(['referee']));
    await page.during(page.model.resume());
    await page.wait(1000);
    expect(page.model.access.isShut).to.equal(true);
  });

  it('is logged out only after the daemon has answered the logout; the page then reloads, but not while a “STOP” is unanswered', async () => {
    const page = await closed();
    await enter(page, 'operator');
    page.fate = () => 'failed';
    await page.during(page.model.leave());
    expect([name(page), page.reloads]).to.deep.equal(['operator', 0]);
    expect(page.strip).to.match(/Session: The daemon does not answer/);
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.during(page.model.leave());
    expect([name(page), page.reloads]).to.deep.equal([null, 0]);
    page.mend();
    await page.wait(1000);
    await enter(page, 'operator');
    await page.during(page.model.leave());
    expect(page.reloads).to.equal(1);
  });
});

describe('if “STOP” needs a login, a press before the login', () => {
  const open = async (refuse: (page: Page) => void = () => undefined) => {
    const page = await servedPage({ tokens: true, config: { access: { stop: 'token' } } });
    refuse(page);
    page.model.pressStop();
    await page.wait(300);
    return page;
  };
  const isStopped = async ({ daemon }: Page) =>
    (await daemon.ask('GET /api/status', undefined, 'referee')).stopped;

  it('is shown as “not confirmed” until an operator logs in, and then stops the robot', async () => {
    const page = await open();
    expect(page.strip).to.match(
      /^alarm: STOP is not confirmed\. Be ready .* Only an operator or referee can send it\./,
    );
    await page.wait(10_000);
    expect(page.sentTo(/stop/)).to.have.length(1);
    expect(page.model.isOwing).to.equal(true);
    await enter(page, 'spectator');
    await page.wait(200);
    expect([page.sentTo(/stop/).length, await isStopped(page)]).to.deep.equal([2, false]);
    await enter(page, 'operator');
    await page.wait(1000);
    expect([await isStopped(page), page.model.isOwing]).to.deep.equal([true, false]);
    expect(page.strip).to.match(/^bad: Stopped at/);
  });

  it('is not sent again after the login if the daemon refused it as “cross-site” (from another website)', async () => {
    const page = await open(one => one.refuse(/stop/, 403, 'cross-site'));
    await enter(page, 'operator');
    await page.wait(1000);
    expect(page.sentTo(/stop/)).to.have.length(1);
  });

  it('expires after a minute: the page then asks for another press, and a later login sends nothing', async () => {
    const page = await open();
    await page.wait(61_000);
    expect(page.strip).to.match(/STOP of 00:00:00 was refused\. Press it again if it is still wanted\./);
    await enter(page, 'operator');
    await page.wait(2000);
    expect([page.sentTo(/stop/).length, await isStopped(page)]).to.deep.equal([1, false]);
    page.model.pressStop();
    await page.wait(200);
    expect(await isStopped(page)).to.equal(true);
    expect(page.strip).not.to.match(/refused/);
  });

  it('stays “not confirmed” after a spectator logs in, until another caller stops and resumes the robot', async () => {
    const page = await open();
    await enter(page, 'spectator');
    await page.wait(1000);
    expect(page.strip).to.match(/STOP is not confirmed/);
    await page.daemon.ask('POST /api/stop', undefined, 'operator');
    await page.wait(1000);
    await page.daemon.askAndWait('POST /api/resume', undefined, 'operator');
    expect(page.strip).to.equal('');
  });
});
