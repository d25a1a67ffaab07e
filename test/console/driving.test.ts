import { expect } from 'chai';
import { stripLines } from '../../src/console/bar/strip.js';
import { type FakePage, servedPage } from './fake-page.js';
import type { ServingDaemon } from './page-daemon.js';

const AHEAD = { speed: 1 };
const REST = {};

describe('a page used for driving', () => {
  let page: FakePage<ServingDaemon>;
  beforeEach(async () => {
    page = await servedPage({ config: { supervision: { pollHz: 50 } } });
  });

  const commands = () => page.requests.filter(({ path }) => path === '/api/drive');
  const speeds = () => commands().map(({ body }) => body.chassis?.speed);
  const stick = (deflections: Readonly<Record<string, number>>) =>
    page.model.driving.ask('left stick', deflections);
  const aim = (deflections: Readonly<Record<string, number>>) =>
    page.model.driving.ask('right stick', deflections);
  /** Another page drives the chassis for half a second. */
  const otherDrives = async (more: object = {}) => {
    const chassis = { speed: 0.1, turn: 0 };
    await page.daemon.ask('POST /api/drive', { chassis, holdMs: 500, id: 'another page', ...more });
    await page.wait(100);
  };
  const sendsNothingFor = async (ms: number) => {
    const sent = commands().length;
    await page.wait(ms);
    expect(commands().length).to.equal(sent);
  };
  /** Lets go of the stick, and drives again. */
  const drivesAfterRest = async () => {
    stick(REST);
    stick(AHEAD);
    await page.wait(100);
    expect(speeds().at(-1)).to.equal(0.45);
  };

  it('sends 25 commands a second while a stick is deflected, and none while every stick is at rest', async () => {
    await page.wait(1000);
    expect(commands()).to.deep.equal([]);
    stick(AHEAD);
    await page.wait(1000);
    expect(commands().length).to.be.within(24, 27);
    expect(commands()[0]?.body).to.deep.include({ chassis: { speed: 0.45, turn: 0 }, holdMs: 200 });
    stick(REST);
    expect(commands().at(-1)?.body.chassis).to.deep.equal({ speed: 0, turn: 0 });
    await sendsNothingFor(1000);
  });

  it('has at most one command in flight, and cancels an unanswered command after its hold time of 200 ms', async () => {
    page.let(/drive/, 'held');
    stick(AHEAD);
    await page.wait(190);
    expect(commands().length).to.equal(1);
    await page.wait(100);
    expect(commands().map(({ isTakenBack }) => isTakenBack)).to.deep.equal([true, false]);
  });

  it('cancels an unanswered command and sends zero speed as soon as the stick is released', async () => {
    page.let(/drive/, 'held');
    stick(AHEAD);
    await page.wait(5);
    stick(REST);
    expect(speeds()).to.deep.equal([0.45, 0]);
    expect(commands()[0]?.isTakenBack).to.equal(true);
  });

  it('stops driving if another caller switches a chassis in manual to manual again, and drives again only after the stick was let go', async () => {
    for (let ms = 0; ms < 40; ms += 5) {
      stick(AHEAD);
      await page.wait(1000 + ms);
      await page.daemon.ask('POST /api/chassis/mode/switch', { mode: 'manual' });
      await page.wait(300);
      const sent = speeds().filter(speed => speed !== 0).length;
      await page.wait(500);
      expect(speeds().filter(speed => speed !== 0).length, `${ms} ms`).to.equal(sent);
      expect(page.model.driving.hindrance).to.include('Let go of all sticks and keys first.');
      await drivesAfterRest();
    }
  });

  it('ignores keys that were pressed while another caller drove, even when one of two opposite keys is let go', async () => {
    await otherDrives();
    stick(AHEAD);
    await page.wait(100);
    page.model.driving.ask('left stick', { speed: 0 }, { isHeld: true });
    await page.wait(2000);
    stick(AHEAD);
    await page.wait(200);
    expect(commands()).to.deep.equal([]);
  });

  it('sends a zero speed to the chassis, and does not cancel it, if the chassis stick is let go while the gimbal is driven', async () => {
    for (let ms = 185; ms < 240; ms += 5) {
      page.let(/drive/, 'held');
      stick(AHEAD);
      aim({ yaw: 1 });
      await page.wait(ms);
      const sent = commands().length;
      stick(REST);
      const halts = commands()
        .slice(sent)
        .filter(({ body }) => body.chassis?.speed === 0);
      expect(
        halts.some(({ isTakenBack }) => !isTakenBack),
        `${ms} ms`,
      ).to.equal(true);
      aim(REST);
      page.let(/drive/, 'delivered');
      await page.wait(603);
    }
  });

  it('sends each unit its zero speed in a separate command, and cancels that command only for a newer zero speed of the same unit', async () => {
    stick(AHEAD);
    aim({ yaw: 1 });
    await page.wait(100);
    page.let(/drive/, 'held');
    aim(REST);
    await page.wait(230);
    const moving = commands().at(-1);
    stick(REST);
    await otherDrives({ takeover: true });
    page.model.driving.takeOver();
    const [gimbal, chassis, taken] = commands().filter(({ body }) =>
      [body.gimbal?.yaw, body.chassis?.speed].includes(0),
    );
    expect([moving?.body.gimbal, moving?.isTakenBack]).to.deep.equal([undefined, true]);
    expect([gimbal?.body.chassis, gimbal?.isTakenBack]).to.deep.equal([undefined, false]);
    // A newer halt of the same unit takes its place.
    expect([chassis?.body.gimbal, chassis?.isTakenBack]).to.deep.equal([undefined, true]);
    expect([taken?.body.chassis, taken?.isTakenBack]).to.deep.equal([{ speed: 0, turn: 0 }, false]);
  });

  for (const [what, path, body] of [
    [
      'another caller takes over the gimbal',
      'POST /api/drive',
      { gimbal: { yaw: 0.1, pitch: 0 }, holdMs: 500, id: 'another page', takeover: true },
    ],
    ['another caller switches the gimbal to auto', 'POST /api/gimbal/mode/switch', { mode: 'auto' }],
  ] as const)
    it(`sends zero speed for the chassis alone, exactly once, if both sticks are let go just after ${what}`, async () => {
      for (let ms = 0; ms < 100; ms += 10) {
        await page.daemon.ask('POST /api/gimbal/mode/switch', { mode: 'manual' });
        await page.wait(300);
        stick(AHEAD);
        aim({ yaw: 1 });
        await page.wait(500);
        const sent = commands().length;
        await page.daemon.ask(path, body);
        await page.wait(ms);
        stick(REST);
        aim(REST);
        await page.wait(30);
        const halts = commands()
          .slice(sent)
          .filter(({ body: { chassis, gimbal } }) => chassis?.speed === 0 && gimbal === undefined);
        expect(
          halts.map(({ isAnswered, isTakenBack }) => isAnswered && !isTakenBack),
          `${ms} ms`,
        ).to.deep.equal([true]);
      }
    });

  it('sends zero speed when the stick is let go even while a STOP is unanswered', async () => {
    stick(AHEAD);
    await page.wait(100);
    page.let(/stop/, 'lost');
    page.model.pressStop();
    stick(REST);
    expect(commands().at(-1)?.body.chassis).to.deep.equal({ speed: 0, turn: 0 });
  });

  it('removes its warning about a gimbal in auto after the gimbal stick is let go, and still drives the chassis', async () => {
    await page.daemon.ask('POST /api/gimbal/mode/switch', { mode: 'auto' });
    await page.wait(300);
    stick(AHEAD);
    aim({ yaw: 1 });
    await page.wait(100);
    expect(page.model.driving.hindrance).to.include('switch to manual');
    aim(REST);
    await page.wait(1000);
    expect([speeds().at(-1), page.model.driving.hindrance]).to.deep.equal([0.45, '']);
  });

  it('ignores a stick that was deflected while another caller drove, until that stick was let go', async () => {
    await otherDrives();
    stick(AHEAD);
    await page.wait(3000);
    expect(commands()).to.deep.equal([]);
    expect(page.model.driving.hindrance).to.equal('Let go of all sticks and keys first.');
    aim({ yaw: 1 });
    await page.wait(100);
    expect(commands().every(({ body }) => body.gimbal.yaw > 0 && body.chassis === undefined)).to.equal(true);
    aim(REST);
    await drivesAfterRest();
  });

  it('moves both units if the gimbal stick is deflected a second or more after the chassis stick', async () => {
    stick(AHEAD);
    await page.wait(1000);
    for (let aims = 0; aims < 2; aims += 1) {
      aim({ yaw: 1 });
      await page.wait(1000);
      expect(page.model.driving.hindrance).to.equal('');
      expect([speeds().at(-1), commands().at(-1)?.body.gimbal.yaw > 0]).to.deep.equal([0.45, true]);
      aim(REST);
      await page.wait(2000);
    }
  });

  it('continues to drive if the commands of the first 0.35 s of a motion are lost', async () => {
    page.let(/drive/, 'lost');
    stick(AHEAD);
    await page.wait(350);
    page.let(/drive/, 'delivered');
    await page.wait(1000);
    expect([speeds().at(-1), page.model.driving.needsRest.value]).to.deep.equal([0.45, false]);
  });

  it('does not resume an interrupted motion while its key stays held, even if the opposite key is pressed and let go', async () => {
    const keys = (speed: number, isHeld: boolean) => page.model.driving.ask('keys', { speed }, { isHeld });
    keys(1, true);
    await page.wait(100);
    page.model.driving.interrupt('test');
    keys(0, true);
    keys(1, true);
    await page.wait(200);
    expect(speeds().at(-1)).to.equal(0);
    keys(0, false);
    keys(1, true);
    await page.wait(100);
    expect(speeds().at(-1)).to.equal(0.45);
  });

  it("gives each command an expiry time (`notAfterT`) about 0.5 s ahead, in the robot's time", async () => {
    stick(AHEAD);
    await page.wait(50);
    const { notAfterT } = commands().at(-1)?.body ?? {};
    expect(notAfterT - page.clock.nowMs() / 1000).to.be.within(0.4, 0.6);
  });

  it('obeys the speed limit of the slider except while the right shoulder button is held, and keeps the limit after a reload', async () => {
    page.model.driving.setLimit(0.5);
    page.model.driving.ask('gamepad', AHEAD, { isFast: true });
    await page.wait(50);
    expect(speeds().at(-1)).to.equal(1.5);
    page.model.driving.ask('gamepad', AHEAD);
    await page.wait(50);
    expect(speeds().at(-1)).to.equal(0.75);
    const again = await page.another();
    expect(again.model.driving.limit.value).to.equal(0.5);
  });

  for (const [what, interrupt] of [
    ['the window is hidden', () => page.model.driving.interrupt('hidden')],
    [
      'the left shoulder button of the gamepad is released',
      () => page.model.driving.ask('left stick', AHEAD, { isEnabled: false }),
    ],
    [
      'another caller switches the gimbal to auto mode',
      () => page.daemon.askAndWait('POST /api/gimbal/mode/switch', { mode: 'auto' }),
    ],
    [
      'another caller stops and resumes the robot',
      async () => {
        await page.daemon.ask('POST /api/stop');
        await page.daemon.ask('POST /api/resume');
      },
    ],
    [
      'no event from the daemon arrives for half a second',
      async () => {
        page.isDeaf = true;
        await page.wait(620);
        page.isDeaf = false;
      },
    ],
    [
      'no command is answered for half a second while events still arrive',
      async () => {
        page.let(/drive/, 'lost');
        await page.wait(800);
        page.let(/drive/, 'delivered');
      },
    ],
  ] as const)
    it(`sends zero speed if ${what}, and drives again only after every stick was at rest`, async () => {
      stick(AHEAD);
      await page.wait(300);
      await interrupt();
      await page.wait(300);
      expect(speeds().at(-1)).to.equal(0);
      await sendsNothingFor(500);
      expect(page.model.driving.hindrance).to.match(
        /In auto: switch to manual|Let go of all sticks and keys first/,
      );
      await drivesAfterRest();
    });

  it('says why the robot cannot be driven at the moment, and removes a reason that no longer applies', async () => {
    const { driving } = page.model;
    stick(AHEAD);
    await page.wait(100);
    await page.daemon.askAndWait('POST /api/chassis/mode/switch', { mode: 'auto' });
    expect(driving.hindrance).to.equal('Chassis: In auto: switch to manual.');
    await page.daemon.askAndWait('POST /api/chassis/mode/switch', { mode: 'manual' });
    expect(driving.hindrance).to.equal('Let go of all sticks and keys first.');
    driving.interrupt('The window lost the focus.');
    expect(driving.hindrance).to.equal('The window lost the focus. Let go of all sticks and keys first.');
    stick(REST);
    stick(AHEAD);
    await page.wait(100);
    expect(driving.hindrance).to.equal('');
  });

  it('sends zero speed and then nothing more if no command is answered for half a second, even if another stick is tapped meanwhile', async () => {
    page.let(/drive/, 'lost');
    stick(AHEAD);
    for (let taps = 0; taps < 3; taps += 1) {
      aim({ yaw: 1 });
      await page.wait(100);
      aim(REST);
      await page.wait(200);
    }
    expect(page.model.driving.hindrance).to.match(/^No answers came/);
    expect(speeds().at(-1)).to.equal(0);
    await sendsNothingFor(500);
  });

  it('obeys the keys even while an unused gamepad is connected', async () => {
    page.model.driving.ask('keys', AHEAD);
    page.model.driving.ask('gamepad', REST, { isEnabled: false });
    await page.wait(100);
    expect([speeds().at(-1), page.model.driving.hindrance]).to.deep.equal([0.45, '']);
  });

  it('ignores a gamepad stick that is deflected before the left shoulder button is pressed, and asks the person to let go of the stick', async () => {
    const { driving } = page.model;
    driving.ask('gamepad', AHEAD, { isEnabled: false });
    expect(driving.hindrance).to.match(/hold the left shoulder button .* Let go/);
    driving.ask('gamepad', AHEAD);
    await page.wait(100);
    expect(commands()).to.deep.equal([]);
  });

  it('takes over from another driver only after the button "Take over" is pressed, and moves the robot only after the stick was let go', async () => {
    await otherDrives();
    stick(AHEAD);
    await page.wait(100);
    expect(commands()).to.deep.equal([]);
    expect(stripLines(page.model).map(({ about, text }) => `${about} ${text}`)).to.deep.equal([
      'Drive: Chassis: Another driver: 192.0.2.2.',
    ]);
    page.model.driving.takeOver();
    expect(commands().map(({ body }) => [body.chassis, body.takeover])).to.deep.equal([
      [{ speed: 0, turn: 0 }, true],
    ]);
    await sendsNothingFor(200);
    await drivesAfterRest();
  });

  it('sends no drive command for a deflected stick while a STOP is unanswered', async () => {
    page.let(/stop/, 'lost');
    stick(AHEAD);
    await page.wait(100);
    page.model.pressStop();
    expect(commands()).to.not.deep.equal([]);
    await sendsNothingFor(300);
  });
});
