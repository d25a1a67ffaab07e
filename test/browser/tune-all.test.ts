import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Tune } from '../../src/schemas/tune.js';
import { eventually } from '../support/eventually.js';
import { alerts, card, consoleInBrowser, field, has, hide, mode, save, shows } from './console-page.js';
import { holding } from './held-requests.js';

type Says = (state: Tune['state'], gains?: object) => Promise<void>;

/** The robot is real. Of its tunings only the requests are, so that a test says when one ends and who hears of it. */
describe('tuning all loops on the page', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const report = (page: Page) => page.getByRole('region', { name: 'Tuning' });
  const end = (page: Page) => page.getByRole('button', { name: 'End the tuning of the chassis' });

  /** The page after "Tune all" of the chassis: which loops it began, and how a test ends the one that runs. */
  async function tuneAll() {
    const begun: string[] = [];
    let tune: Record<string, unknown> = {};
    let mayBegin = Promise.resolve();
    const page = await open();
    await page.addInitScript(`
      window.EventSource = class extends EventSource {
        constructor(path) {
          super(path);
          window.stream = this;
        }
      };
    `);
    await page.route('**/api/chassis/autotune', async route => {
      const request = route.request();
      if (request.method() === 'DELETE') return route.fulfill({ json: { ended: tune.state === 'running' } });
      if (request.method() === 'GET') return route.fulfill({ json: { tune } });
      const { id, loop, style } = request.postDataJSON();
      if (id === undefined) {
        begun.push(loop);
        await mayBegin;
        const none = { words: [], why: null, before: null, proposed: null, predicted: null };
        tune = { id: loop, by: 'me', unit: 'chassis', loop, style, state: 'running', ...none };
      }
      if (tune.state === 'running') return route.fulfill({ status: 202, json: tune });
      return route.fulfill({ status: 409, json: { code: 'trial-ended', detail: 'It has ended.' } });
    });
    await page.reload();
    await page.getByRole('button', { name: 'Speed loop', exact: true }).first().click();
    await page.getByRole('button', { name: 'Tune…' }).click();
    await page.getByRole('button', { name: /^Tune all 3/ }).click();
    await shows(report(page), /Tuning Speed loop\./);
    /** The daemon knows of the end. */
    const ends: Says = async (state, gains) => {
      const figures = { settlingS: 0.4, overshootPercent: 1, oscillation: null };
      tune = { ...tune, state, proposed: gains === undefined ? null : { gains, figures } };
    };
    /** The page hears of it. */
    const says: Says = async (state, gains) => {
      await ends(state, gains);
      await hears(tune);
    };
    const hears = (what: object) =>
      page.evaluate(
        `stream.dispatchEvent(new MessageEvent('tune', { data: ${JSON.stringify(JSON.stringify(what))} }))`,
      );
    /** Somebody else tunes the same unit, once the daemon has ended what this page held. */
    const saysOfAnother: Says = async state => {
      tune = { ...tune, id: 'another', by: 'Bob', state };
      await hears(tune);
    };
    /** The next loop is asked for without an answer until this is called. */
    const holdsNext = () => {
      let release = () => {};
      mayBegin = new Promise(resolve => {
        release = resolve;
      });
      return release;
    };
    return { page, begun, ends, says, saysOfAnother, hears, holdsNext };
  }

  const better = async () => {
    const { kp, ki, kd } = (await get('/api/chassis/pidconfig')).body.speed;
    return { kp: kp + 1, ki, kd };
  };
  const kp = async () => (await get('/api/chassis/pidconfig')).body.speed.kp;

  /** Somebody at the page keeps other gains of a loop, and the answer does not come before it is released. */
  const keepHeld = async (page: Page, loop: string) => {
    const edited = field(page, `${loop} kp`);
    const kept = Number(await edited.inputValue()) + 0.5;
    const { asked, release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST');
    await edited.fill(String(kept));
    await save(page, 'Chassis').click();
    await eventually(async () => asked.includes('POST'));
    return { kept, asked, release };
  };

  it('begins the next loop after the save of the one before', async () => {
    const { page, begun, says } = await tuneAll();
    const gains = await better();
    await says('better', gains);
    await shows(report(page), /Tuning Heading angle loop\./);
    expect(begun).to.deep.equal(['speed', 'angle']);
    expect(await kp()).to.equal(gains.kp);
  });

  it('goes on where a renewal is refused before the page hears that the loop has ended', async () => {
    const { page, begun, ends, says } = await tuneAll();
    const refused = page.waitForResponse(response => response.status() === 409);
    await ends('good');
    await (await refused).finished();
    await page.evaluate("fetch('/healthz')");
    await says('good');
    await shows(report(page), /Tuning Heading angle loop\./);
    expect(begun).to.deep.equal(['speed', 'angle']);
  });

  it('saves what is better after a save of edits that was under way when the loop ended', async () => {
    const { page, begun, says } = await tuneAll();
    const gains = await better();
    const { kept, release } = await keepHeld(page, 'Position loop');
    await says('better', gains);
    await page.evaluate("fetch('/healthz')");
    release();
    await shows(report(page), /Tuning Heading angle loop\./);
    expect(begun).to.deep.equal(['speed', 'angle']);
    const stored = (await get('/api/chassis/pidconfig')).body;
    expect([stored.speed.kp, stored.position.kp]).to.deep.equal([gains.kp, kept]);
  });

  it('saves nothing of the last loop either after a stop, or when its result is put away', async () => {
    for (const end of [
      async (page: Page) => {
        await post('/api/stop');
        await shows(alerts(page), /Stopped:/);
      },
      (page: Page) => report(page).getByRole('button', { name: 'Dismiss' }).click(),
    ]) {
      const { page, says } = await tuneAll();
      await says('good');
      await shows(report(page), /Tuning Heading angle loop\./);
      await says('good');
      await shows(report(page), /Tuning Position loop\./);
      const { asked, release } = await keepHeld(page, 'Speed loop');
      await says('better', await better());
      await shows(report(page), /Position loop: settles in 400 ms/);
      await end(page);
      release();
      await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
      await page.evaluate("fetch('/healthz')");
      expect(asked.filter(method => method === 'POST')).to.have.length(1);
      await page.context().close();
      await post('/api/resume');
    }
  });

  it('ends a loop that begins after a loss of contact in which it was asked for', async () => {
    const { page, begun, says, holdsNext } = await tuneAll();
    const release = holdsNext();
    await says('good');
    await eventually(async () => begun.length === 2);
    await hide(page, true);
    await shows(page.locator('.link'), /No contact/);
    await hide(page, false);
    await shows(page.locator('.link'), /Live/);
    const ended = page.waitForRequest(request => request.method() === 'DELETE');
    release();
    expect((await ended).url()).to.match(/chassis\/autotune$/);
    await shows(report(page), /2 not tuned: this page had no contact when a loop ended\./);
  });

  it('saves nothing over gains of the same loop that somebody kept while it was tuned', async () => {
    const { page, begun, says } = await tuneAll();
    const { kept, release } = await keepHeld(page, 'Speed loop');
    await says('better', { kp: kept + 1, ki: 0, kd: 0 });
    await page.evaluate("fetch('/healthz')");
    release();
    await shows(report(page), /2 not tuned: other gains of Speed loop were saved meanwhile\./);
    expect([await kp(), begun]).to.deep.equal([kept, ['speed']]);
  });

  it('keeps what it has said of its loops where the result of another unit is put away', async () => {
    const { page, says, hears } = await tuneAll();
    await says('good');
    await shows(report(page), /Speed loop: your gains are already as good/);
    const old = { words: [], why: null, before: null, proposed: null, predicted: null, style: 'normal' };
    await hears({ ...old, id: 'old', by: 'Bob', unit: 'gimbal', loop: 'angle_yaw', state: 'good' });
    await page.getByRole('button', { name: 'Angle loop, yaw', exact: true }).first().click();
    await report(page).getByRole('button', { name: 'Dismiss' }).click();
    await shows(report(page), /Speed loop: your gains are already as good/);
  });

  it('neither saves nor goes on after an End that came as the loop had just ended', async () => {
    const { page, begun, ends, says } = await tuneAll();
    const [before, gains] = [await kp(), await better()];
    await ends('better', gains);
    const answered = page.waitForResponse(response => response.request().method() === 'DELETE');
    await end(page).click();
    await (await answered).finished();
    await says('better', gains);
    await shows(report(page), /Speed loop: settles in 400 ms.*Keep/);
    await page.evaluate("fetch('/healthz')");
    expect(await kp()).to.equal(before);
    expect(begun).to.deep.equal(['speed']);
  });

  it('offers End between two loops, and begins no other after it', async () => {
    const { page, begun, says } = await tuneAll();
    const { asked, release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST');
    await says('better', await better());
    await eventually(async () => asked.includes('POST'));
    await shows(report(page), /Next: Heading angle loop\..*End/);
    await shows(alerts(page), /Heading angle loop is tuned next\./);
    await end(page).click();
    release();
    await shows(report(page), /Speed loop: settles in 400 ms.*Saved\./);
    await page.evaluate("fetch('/healthz')");
    expect(begun).to.deep.equal(['speed']);
    expect(await end(page).count()).to.equal(0);
  });

  it('takes a loop back that was asked for and is not answered yet', async () => {
    const { page, begun, says, holdsNext } = await tuneAll();
    const release = holdsNext();
    const takenBack = page.waitForEvent('requestfailed', request => /autotune/.test(request.url()));
    await says('good');
    await eventually(async () => begun.length === 2);
    await end(page).click();
    expect((await takenBack).postDataJSON().loop).to.equal('angle');
    release();
  });

  it('says of each loop, also the last, that it is next while it is asked for', async () => {
    const { page, begun, says, holdsNext } = await tuneAll();
    for (const [count, title] of [
      [2, 'Heading angle loop'],
      [3, 'Position loop'],
    ] as const) {
      const release = holdsNext();
      await says('good');
      await eventually(async () => begun.length === count);
      await shows(alerts(page), new RegExp(`${title} is tuned next\\.`));
      await shows(report(page), new RegExp(`Next: ${title}\\..*End`));
      expect(await report(page).textContent()).to.not.include('not tuned');
      release();
      await shows(report(page), new RegExp(`Tuning ${title}\\.`));
    }
  });

  it('says which loop moves where another one is chosen, and goes on when a tuning of another unit is ended', async () => {
    const { page, begun, says, hears } = await tuneAll();
    await says('good');
    await shows(report(page), /Tuning Heading angle loop\./);
    await page.getByRole('button', { name: 'Position loop', exact: true }).first().click();
    await has(
      page.getByRole('button', { name: 'Position loop', exact: true }).first(),
      'aria-pressed',
      'true',
    );
    await shows(report(page), /Tuning Heading angle loop\./);
    await page.route('**/api/gimbal/autotune', route => route.fulfill({ json: { ended: true } }));
    const bobs = { words: [], why: null, before: null, proposed: null, predicted: null, style: 'normal' };
    await hears({ ...bobs, id: 'bobs', by: 'Bob', unit: 'gimbal', loop: 'angle_yaw', state: 'running' });
    await page.getByRole('button', { name: 'End the tuning of the gimbal' }).click();
    await hears({ ...bobs, id: 'bobs', by: 'Bob', unit: 'gimbal', loop: 'angle_yaw', state: 'aborted' });
    await says('good');
    await shows(report(page), /Tuning Position loop\./);
    expect(begun).to.deep.equal(['speed', 'angle', 'position']);
  });

  /** What a page cannot have heard of: somebody stopped the robot, had his hands in it, and resumed it. */
  const stopAndResume = async () => {
    await post('/api/stop');
    await post('/api/resume');
  };

  it('begins nothing on a robot that was stopped and resumed elsewhere while it had no contact', async () => {
    const { page, begun, ends } = await tuneAll();
    const [before, gains] = [await kp(), await better()];
    const switched: unknown[] = [];
    page.on('request', request => /mode/.test(request.url()) && switched.push(request.postDataJSON()));
    await hide(page, true);
    await ends('better', gains);
    await stopAndResume();
    await hide(page, false);
    await shows(
      report(page),
      /Speed loop: settles in 400 ms.*2 not tuned: this page had no contact when.*Keep/,
    );
    await page.evaluate("fetch('/healthz')");
    expect(await kp()).to.equal(before);
    expect([begun, switched]).to.deep.equal([['speed'], []]);
  });

  it('begins no other loop after a loss of contact between two loops, for nobody knows who did what meanwhile', async () => {
    const { page, begun, says } = await tuneAll();
    const { asked, release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST');
    await says('better', await better());
    await eventually(async () => asked.includes('POST'));
    await hide(page, true);
    await shows(page.locator('.link'), /No contact/);
    await hide(page, false);
    await shows(page.locator('.link'), /Live/);
    release();
    await shows(report(page), /2 not tuned: this page had no contact when a loop ended\./);
    await page.evaluate("fetch('/healthz')");
    expect(begun).to.deep.equal(['speed']);
  });

  it('goes on after a loss of contact that ends before the loop does', async () => {
    const { page, begun, says } = await tuneAll();
    await hide(page, true);
    await shows(page.locator('.link'), /No contact/);
    await hide(page, false);
    await shows(page.locator('.link'), /Live/);
    await says('good');
    await shows(report(page), /Tuning Heading angle loop\./);
    expect(begun).to.deep.equal(['speed', 'angle']);
  });

  it('begins anew after an End that came before the unit was in debug mode', async () => {
    const { page, begun, says } = await tuneAll();
    await says('aborted');
    await eventually(async () => (await end(page).count()) === 0);
    await post('/api/chassis/mode/switch', { mode: 'manual' });
    await has(mode(page, 'Chassis', 'manual'), 'aria-pressed', 'true');
    const { asked, release } = await holding(page, /chassis\/mode/, 'POST');
    const press = async () => {
      await page.getByRole('button', { name: 'Tune…' }).click();
      await page.getByRole('button', { name: /^Tune all 3/ }).click();
    };
    await press();
    await eventually(async () => asked.length === 1);
    await end(page).click();
    await press();
    release();
    await eventually(async () => begun.length === 2);
    expect(begun).to.deep.equal(['speed', 'speed']);
  });

  it('ends where somebody else tunes the same unit, and then shows what he moves', async () => {
    const { page, begun, saysOfAnother } = await tuneAll();
    await saysOfAnother('running');
    await shows(alerts(page), /Speed loop is tuned by Bob/);
    await saysOfAnother('good');
    await eventually(async () => (await end(page).count()) === 0);
    expect(begun).to.deep.equal(['speed']);
    expect(await alerts(page).innerText()).not.to.contain('tuned next');
    await page.getByRole('button', { name: 'Tune…' }).click();
    expect(await page.getByRole('button', { name: /^Tune all 3/ }).isEnabled()).to.equal(true);
  });

  it('asks again how a tuning of somebody else stands where the answer is lost, and shows what he moves then', async () => {
    const { page, ends, saysOfAnother } = await tuneAll();
    await saysOfAnother('running');
    await shows(alerts(page), /Speed loop is tuned by Bob/);
    await hide(page, true);
    await ends('good');
    await post('/api/chassis/excitation', { loop: 'speed', amplitude: 0.5, periodS: 2 });
    let asked = 0;
    await page.route('**/api/chassis/autotune', route => {
      if (route.request().method() !== 'GET') return route.fallback();
      asked += 1;
      return asked === 1 ? route.abort() : route.fallback();
    });
    await hide(page, false);
    await shows(alerts(page), /Speed loop ±0\.5 m\/s every 2 s/);
    expect(await alerts(page).innerText()).not.to.contain('Bob');
    expect(asked).to.equal(2);
  });

  it('shows a wave that somebody else begins between two loops', async () => {
    const { page, says } = await tuneAll();
    const { asked, release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST');
    await says('better', await better());
    await eventually(async () => asked.includes('POST'));
    await post('/api/chassis/excitation', { loop: 'speed', amplitude: 0.5, periodS: 2 });
    await shows(alerts(page), /Heading angle loop is tuned next\..*Speed loop ±0\.5 m\/s every 2 s/);
    await page.getByRole('button', { name: 'End the excitation of the chassis' }).click();
    await eventually(async () => !/±/.test(await alerts(page).innerText()));
    await end(page).click();
    release();
  });

  it('begins nothing in another mode than it left, nor after a stop, whoever resumed the robot and brought it back', async () => {
    for (const [left, why, between] of [
      ['manual', /no longer in debug/, () => post('/api/chassis/mode/switch', { mode: 'manual' })],
      [
        'debug',
        /the robot was stopped/,
        async (page: Page) => {
          await post('/api/stop');
          await shows(alerts(page), /Stopped:/);
          await post('/api/resume');
          await post('/api/chassis/mode/switch', { mode: 'debug' });
        },
      ],
    ] as const) {
      const { page, begun, says } = await tuneAll();
      const { asked, release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST');
      await says('better', await better());
      await eventually(async () => asked.includes('POST'));
      await between(page);
      await has(mode(page, 'Chassis', left), 'aria-pressed', 'true');
      release();
      await shows(report(page), /2 not tuned/);
      await shows(report(page), why);
      await page.evaluate("fetch('/healthz')");
      expect(begun).to.deep.equal(['speed']);
      await page.context().close();
    }
  });
});
