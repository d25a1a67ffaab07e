import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { card, consoleInBrowser, eventually, field, has, hide, save, shows } from './console-page.js';
import { holding } from './held-requests.js';

describe('the console when somebody else saves', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const gainsOf = async () => (await get('/api/chassis/pidconfig')).body;
  const revisionOf = async (): Promise<number> => (await get('/api/status')).body.chassis.gains.revision;
  /** Somebody else's save of one kp. */
  const others = async (loop: 'speed' | 'position', kp: number) => {
    const gains = await gainsOf();
    await post('/api/chassis/pidconfig', { ...gains, [loop]: { ...gains[loop], kp } });
  };
  const kpOf = async (loop: string): Promise<number> => (await gainsOf())[loop].kp;
  const alert = (page: Page) => card(page, 'Chassis').getByRole('alert');
  const restore = (page: Page, revision: number) =>
    card(page, 'Chassis')
      .getByRole('button', { name: `Restore revision ${revision}`, exact: true })
      .click();
  /** A page that hears nothing more, while its requests are answered. */
  const deafen = async (page: Page) => {
    await hide(page, true);
    await eventually(async () => (await get('/api/status')).body.streams === 0);
  };

  it('does not undo a save that another of its windows had heard of when the edits were made there', async () => {
    const one = await open();
    const other = await one.context().newPage();
    await other.goto(robot.url);
    await has(field(other, 'Speed loop kp'), 'disabled', null);
    const { release } = await holding(other, /chassis\/pidconfig$/, 'GET');
    await others('position', 3);
    await eventually(async () => (await field(one, 'Position loop kp').inputValue()) === '3');
    await field(one, 'Speed loop kp').fill('41');
    await eventually(async () => (await field(other, 'Speed loop kp').inputValue()) === '41');
    await save(other, 'Chassis').click();
    await shows(card(other, 'Chassis'), /Saved: Speed loop kp/);
    release();
    expect([await kpOf('speed'), await kpOf('position')]).to.deep.equal([41, 3]);
  });

  it("still asks about somebody else's change after a save of something else", async () => {
    await others('speed', 43);
    await others('position', 4);
    const before = await revisionOf();
    await others('speed', 42);
    const page = await open();
    await card(page, 'Chassis').getByText('History').click();
    await field(page, 'Speed loop kp').fill('44');
    await others('speed', 43);
    await others('position', 5);
    const conflicts = card(page, 'Chassis').locator('.conflicts');
    await shows(conflicts, /Speed loop kp 42 → 43/);
    await eventually(async () => (await field(page, 'Position loop kp').inputValue()) === '5');
    await restore(page, before);
    await shows(card(page, 'Chassis'), /is running again/);
    await eventually(async () => (await field(page, 'Position loop kp').inputValue()) === '4');
    await shows(conflicts, /Speed loop kp 42 → 43/);
    await save(page, 'Chassis').click();
    await shows(alert(page), /Someone else saved meanwhile/);
    expect([await kpOf('speed'), await kpOf('position')]).to.deep.equal([43, 4]);
    await conflicts.getByRole('button', { name: 'Keep mine' }).click();
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp 43 → 44/);
  });

  it('does not restore over a save that it has not heard of, and shows that save then', async () => {
    await others('position', 6);
    const wanted = await revisionOf();
    await others('position', 7);
    const page = await open();
    await card(page, 'Chassis').getByText('History').click();
    await shows(card(page, 'Chassis').locator('.revisions'), /Restore/);
    await deafen(page);
    await others('position', 8);
    await restore(page, wanted);
    await shows(alert(page), /Someone else saved meanwhile. Look at what changed/);
    expect(await kpOf('position')).to.equal(8);
    await eventually(async () => (await field(page, 'Position loop kp').inputValue()) === '8');
    await restore(page, wanted);
    await shows(card(page, 'Chassis'), /is running again/);
    await others('position', 9);
    await field(page, 'Speed loop kp').fill('45');
    await save(page, 'Chassis').click();
    await shows(alert(page), /Someone else saved meanwhile/);
    expect(await kpOf('position')).to.equal(9);
    // Only another loop was changed, so that nothing is asked.
    await eventually(async () => (await field(page, 'Position loop kp').inputValue()) === '9');
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    expect([await kpOf('speed'), await kpOf('position')]).to.deep.equal([45, 9]);
  });

  it('does not load a profile over a save that it has not heard of', async () => {
    await post('/api/chassis/profiles', { name: 'carpet' });
    const carpet = await gainsOf();
    const page = await open();
    await card(page, 'Chassis').getByText('Profiles').click();
    const load = card(page, 'Chassis').getByRole('button', { name: 'Load carpet' });
    await load.waitFor();
    await deafen(page);
    await others('position', 10);
    await load.click();
    await shows(alert(page), /Someone else saved meanwhile/);
    expect(await kpOf('position')).to.equal(10);
    await eventually(async () => (await field(page, 'Position loop kp').inputValue()) === '10');
    await load.click();
    await shows(card(page, 'Chassis'), /carpet is running/);
    expect(await gainsOf()).to.deep.equal(carpet);
  });

  it('asks nothing where the change of somebody else is what was edited here, and keeps the other edits then', async () => {
    const page = await open();
    await field(page, 'Speed loop kp').fill('61');
    await field(page, 'Position loop kp').fill('11');
    await deafen(page);
    await others('speed', 61);
    await save(page, 'Chassis').click();
    await shows(alert(page), /Someone else saved meanwhile/);
    await shows(save(page, 'Chassis'), /1 change/);
    expect(await card(page, 'Chassis').locator('.conflicts').count()).to.equal(0);
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved: Position loop kp/);
    expect([await kpOf('speed'), await kpOf('position')]).to.deep.equal([61, 11]);
  });

  it('takes it for decided where somebody types what the other one saved', async () => {
    const page = await open();
    await field(page, 'Speed loop kp').fill('62');
    await field(page, 'Position loop kp').fill('12');
    await others('speed', 63);
    const conflicts = card(page, 'Chassis').locator('.conflicts');
    await conflicts.waitFor();
    await field(page, 'Speed loop kp').fill('63');
    await field(page, 'Speed loop kp').blur();
    await conflicts.waitFor({ state: 'detached' });
    const answered = page.waitForResponse(/chassis\/pidconfig\?baseRevision=/);
    await save(page, 'Chassis').click();
    expect((await answered).status()).to.equal(200);
    expect([await kpOf('speed'), await kpOf('position')]).to.deep.equal([63, 12]);
  });

  it('saves nothing before somebody has decided, also over gains of another journal that have the same number', async () => {
    const startAnew = async () => {
      const { port } = new URL(robot.url);
      await robot.daemon.kill();
      await rm(robot.state, { recursive: true });
      await robot.startDaemon(port);
    };
    await startAnew();
    await others('position', 13);
    const page = await open();
    await field(page, 'Speed loop kp').fill('64');
    await hide(page, true);
    await startAnew();
    const gains = await gainsOf();
    const theirs = { ...gains, speed: { ...gains.speed, kp: 65 }, position: { ...gains.position, kp: 14 } };
    await post('/api/chassis/pidconfig', theirs);
    expect(await revisionOf()).to.equal(1);
    await hide(page, false);
    const conflicts = card(page, 'Chassis').locator('.conflicts');
    await shows(conflicts, /Speed loop kp .* → 65/);
    await save(page, 'Chassis').click();
    await shows(alert(page), /Someone else saved meanwhile/);
    expect(await gainsOf()).to.deep.equal(theirs);
    await conflicts.getByRole('button', { name: 'Keep mine' }).click();
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp 65 → 64/);
    expect([await kpOf('speed'), await kpOf('position')]).to.deep.equal([64, 14]);
  });
});
