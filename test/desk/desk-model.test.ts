import { expect } from 'chai';
import type { HttpAnswer, HttpRequest } from '../../src/console/daemon/surroundings.js';
import { DeskModel } from '../../src/desk/page/desk-model.js';
import { ManualClock, settle } from '../support/manual-clock.js';

interface Sent {
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of the page under test.
  readonly body: any;
  answer(status: number, body: unknown): Promise<void>;
}

function pageWithDesk() {
  const clock = new ManualClock();
  const sent: Sent[] = [];
  let ids = 0;
  const screen = { is: false };
  const fetch = (path: string, { body, signal }: HttpRequest) =>
    new Promise<HttpAnswer>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
      sent.push({
        path,
        body: body === undefined ? undefined : JSON.parse(body),
        answer: async (status, answer) => {
          resolve({ status, json: async <T>() => answer as T });
          await settle();
        },
      });
    });
  const desk = new DeskModel({ clock, fetch, newId: () => `press-${++ids}`, isScreen: () => screen.is });
  const pass = (ms: number) => clock.advance(ms);
  return { desk, sent, pass, screen, to: (path: string) => sent.filter(one => one.path === path) };
}

const view = (t: number) => ({ t, robots: [] });

describe('the web page of a referee desk', () => {
  it('retries an unanswered LOCK ALL with the same id until the desk answers', async () => {
    const { desk, pass, to } = pageWithDesk();
    void desk.lockAll();
    await pass(3000);
    const before = to('/api/lock');
    expect(before.length).to.equal(3);
    expect(new Set(before.map(({ body }) => body.press)).size).to.equal(1);
    expect(desk.said.value).to.match(/DESK DOES NOT ANSWER/);
    await before.at(-1)?.answer(200, view(4));
    await pass(3000);
    expect(to('/api/lock').length).to.equal(3);
    expect(desk.isPending('lock')).to.equal(false);
  });

  it('retries a press of “End” only for the match that was shown at the press, even after another match is loaded', async () => {
    const { desk, pass, to } = pageWithDesk();
    const end = desk.start();
    const show = (record: string) =>
      to('/api/status?page=true')
        .at(-1)
        ?.answer(200, { ...view(4), match: { record } });
    await show('one-1');
    void desk.press('match/end');
    await pass(1500);
    await show('two-2');
    expect(desk.view.value?.match?.record).to.equal('two-2');
    await pass(1500);
    end();
    const sent = to('/api/match/end').map(({ body }) => body.record);
    expect(sent.length).to.be.above(1);
    expect(new Set(sent)).to.deep.equal(new Set(['one-1']));
  });

  it('stops retrying an unanswered LOCK ALL once “Unlock” is pressed', async () => {
    const { desk, pass, to } = pageWithDesk();
    void desk.lockAll();
    await pass(500);
    void desk.press('unlock', {}, 'lock');
    await pass(3000);
    expect(to('/api/lock').length).to.equal(1);
    expect(to('/api/unlock').length).to.equal(1);
  });

  it('offers the button LOCK ALL to a person without the right to lock only while the desk cannot read its list of tokens', async () => {
    const { desk } = pageWithDesk();
    const session = { name: null, role: null, simulated: false, rights: ['read'] } as const;
    desk.session.value = { ...session, rights: ['read'], access: 'unavailable' };
    expect(desk.mayLock).to.equal(true);
    desk.session.value = { ...session, rights: ['read'], access: 'closed' };
    expect(desk.mayLock).to.equal(false);
  });

  it('asks the desk for its status with `page=false` while shown as a big screen, and with `page=true` while shown with buttons', async () => {
    const { desk, sent, pass, screen } = pageWithDesk();
    screen.is = true;
    desk.start();
    expect(sent.at(-1)?.path).to.equal('/api/status?page=false');
    screen.is = false;
    await pass(1200);
    expect(sent.at(-1)?.path).to.equal('/api/status?page=true');
  });

  it('sends a press of “Start” with an expiry time, and does not retry the press if the desk does not answer', async () => {
    const { desk, sent, pass, to } = pageWithDesk();
    desk.start();
    await sent.find(({ path }) => path.startsWith('/api/status'))?.answer(200, view(50));
    await pass(100);
    void desk.press('match/start');
    await pass(3000);
    const [start, ...more] = to('/api/match/start');
    expect(more).to.deep.equal([]);
    expect(start?.body.notAfterT).to.be.closeTo(51.1, 0.11);
  });

  it('discards an older status that arrives after a newer one, and counts the age of a status from its request', async () => {
    const { desk, sent, pass } = pageWithDesk();
    desk.start();
    await pass(1200);
    const [older, newer] = sent.filter(({ path }) => path.startsWith('/api/status'));
    await newer?.answer(200, view(8));
    expect(desk.ageS.value).to.be.closeTo(0.2, 0.11);
    await older?.answer(200, view(7));
    expect(desk.view.value?.t).to.equal(8);
    await pass(1600);
    expect(desk.isFresh.value).to.equal(false);
  });

  it('stays logged in if the answer to an earlier question who is logged in arrives after the answer to the login', async () => {
    const { desk, to } = pageWithDesk();
    const nobody = { access: 'closed', name: null, role: null, rights: [] };
    void desk.enter('token');
    void desk.refreshSession();
    const [login, question] = to('/api/session');
    await login?.answer(200, { ...nobody, name: 'ref', role: 'referee', rights: ['read', 'rule'] });
    await question?.answer(200, nobody);
    expect(desk.isShut).to.equal(false);
    expect(desk.mayLock).to.equal(true);
  });

  it('asks who is logged in after a login that the desk did not answer, because the browser may have got the cookie', async () => {
    const { desk, pass, to } = pageWithDesk();
    void desk.enter('token');
    await pass(5000);
    await to('/api/session')
      .at(-1)
      ?.answer(200, { access: 'closed', rights: ['read', 'rule'] });
    expect(desk.isReferee).to.equal(true);
  });

  it('shows a refusal for its whole time, even if the same refusal was shown a few seconds before', async () => {
    const { desk, pass, to } = pageWithDesk();
    const refuse = async () => {
      void desk.press('match/start');
      await to('/api/match/start').at(-1)?.answer(409, { code: 'not-ready', detail: 'Red 1 is in the pit.' });
    };
    await refuse();
    await pass(9500);
    await refuse();
    await pass(9500);
    expect(desk.said.value).to.equal('Red 1 is in the pit.');
    await pass(1000);
    expect(desk.said.value).to.equal('');
  });

  it('takes the answer to any attempt of LOCK ALL, so that a desk that answers each one after 1.2 s counts as answering', async () => {
    const { desk, pass, to } = pageWithDesk();
    void desk.lockAll();
    await pass(1200);
    expect(to('/api/lock').length).to.equal(2);
    expect(desk.said.value).to.match(/DESK DOES NOT ANSWER/);
    await to('/api/lock')[0]?.answer(200, view(4));
    expect(desk.isPending('lock')).to.equal(false);
    expect(desk.said.value).to.equal('');
    await pass(5000);
    expect(to('/api/lock').length).to.equal(2);
  });

  it('shows no data as live after the page was hidden or shown, until the desk answers a later request', async () => {
    const { desk, pass, sent } = pageWithDesk();
    desk.start();
    const poll = () => sent.filter(({ path }) => path.startsWith('/api/status')).at(-1);
    await poll()?.answer(200, view(1));
    expect(desk.isFresh.value).to.equal(true);
    await pass(100);
    desk.doubt();
    expect(desk.isFresh.value).to.equal(false);
    await poll()?.answer(200, view(1));
    expect(desk.isFresh.value).to.equal(false);
    await pass(50);
    await poll()?.answer(200, view(2));
    expect(desk.isFresh.value).to.equal(true);
  });
});
