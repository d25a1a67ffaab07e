import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import {
  alerts,
  consoleInBrowser,
  eventually,
  fingersOn,
  LANDSCAPE,
  overflow,
  PHONE,
  shows,
} from './console-page.js';

/** A round of driving lasts this long, so that a chassis at rest gets up to speed. */
const ROUND_MS = 2000;

describe('in a browser,', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, truth } = robot;
  /** The places of chassis and gimbal. */
  const motion = async () => {
    // On a busy machine a unit may have no reading for a moment.
    let [x, yaw] = [Number.NaN, Number.NaN];
    await eventually(async () => {
      const { chassis, gimbal } = (await robot.get('/api/telemetry')).body.at(-1);
      [x, yaw] = [chassis?.pose.x, gimbal?.angle_yaw.measured];
      return x !== undefined && yaw !== undefined;
    });
    return { x, yaw };
  };
  const isAtRest = async () => {
    const { chassis, gimbal } = await truth();
    const rates = [chassis.axes.speedMS, chassis.axes.turnRadS, gimbal.axes.yaw.rateRadS];
    return rates.every(rate => Math.abs(rate) < 0.01);
  };
  /** Drives again and again until `isDone`. On a busy machine a gap of the readings may end driving meanwhile. */
  const until = (isDone: () => Promise<boolean>, go: () => Promise<unknown>, rest: () => Promise<unknown>) =>
    eventually(async () => {
      await go();
      const untilMs = performance.now() + ROUND_MS;
      while (performance.now() < untilMs) if (await isDone()) return true;
      await rest();
      return false;
    });
  /** Presses a key until the robot moves. */
  const driveAhead = ({ keyboard }: Page, key = 'KeyW') =>
    until(
      async () => !(await isAtRest()),
      () => keyboard.down(key),
      () => keyboard.up(key),
    );
  /** The drive commands of this page from now on that ask for motion. A zero may come late on a busy machine. */
  const motionsAskedBy = (page: Page) => {
    const asked: string[] = [];
    page.on('request', request => {
      const { chassis = {}, gimbal = {} } = request.url().endsWith('/api/drive')
        ? request.postDataJSON()
        : {};
      if (Object.values({ ...chassis, ...gimbal }).some(rate => rate !== 0))
        asked.push(request.postData() ?? '');
    });
    return asked;
  };
  /** Presses these keys, of which the last is L. Resolves when the page has sent the Off that L asks for. */
  const pressed = async (page: Page, ...keys: readonly string[]) => {
    const laserOff = page.waitForRequest(request => request.url().endsWith('/api/laser'));
    for (const key of keys) await page.keyboard.press(key);
    await laserOff;
  };
  /** Touches both sticks at once, at these places from -1 to 1. */
  const touching = async (page: Page) => {
    const send = await fingersOn(page);
    return async (type: 'touchStart' | 'touchMove' | 'touchEnd', left?: number, right?: number) => {
      const boxes = await Promise.all(
        ['drive', 'aim'].map(name => page.getByLabel(name, { exact: true }).boundingBox()),
      );
      const places = [
        [0, left],
        [right, 0],
      ] as const;
      const touchPoints = boxes.flatMap((box, id) => {
        const [x, y] = places[id] ?? [];
        if (box === null || x === undefined || y === undefined) return [];
        return [{ id, x: box.x + (box.width / 2) * (1 + x), y: box.y + (box.height / 2) * (1 + y) }];
      });
      await send(type, ...touchPoints);
    };
  };

  it('two thumbs on a phone move chassis and gimbal at the same time, and both units stop when the thumbs let go', async () => {
    const page = await open(PHONE);
    expect(await overflow(page)).to.equal(0);
    const touch = await touching(page);
    const before = await motion();
    await until(
      async () => {
        const now = await motion();
        return now.x > before.x + 0.1 && now.yaw > before.yaw + 0.1;
      },
      async () => {
        await touch('touchStart', 0, 0);
        await touch('touchMove', -0.9, -0.9);
      },
      () => touch('touchEnd'),
    );
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await touch('touchEnd');
    await eventually(isAtRest);
    // STOP stays in reach beside a touched stick.
    await touch('touchStart', 0);
    await touch('touchMove', -0.9);
    await page.getByRole('button', { name: 'STOP' }).tap();
    await eventually(async () => (await truth()).chassis.stopped === true);
  });

  it('the speed limit slider on a phone is at least 44 px high, and does not move on the screen when another caller begins to drive', async () => {
    for (const size of [PHONE, LANDSCAPE]) {
      const { width } = size;
      const page = await open(size);
      const slider = page.getByRole('slider');
      await page.locator('.drive-state output').waitFor();
      const box = await slider.boundingBox();
      expect(box?.height, `at ${width} px`).to.be.at.least(44);
      for (const texts of [
        ['– m/s', 'answer – ms'],
        ['−1.45 m/s', 'answer 1388 ms'],
      ]) {
        const lines = await page.locator('.drive-state output span').evaluateAll((spans, shown) => {
          for (const [index, span] of spans.entries()) span.textContent = shown[index] ?? '';
          return spans.map(span => span.getClientRects().length);
        }, texts);
        expect(lines, `the lines of each figure at ${width} px`).to.deep.equal([1, 1]);
        expect(await slider.boundingBox(), `at ${width} px beside ${texts}`).to.deep.equal(box);
      }
      const takeOver = page.getByRole('button', { name: 'Take over' });
      await eventually(async () => {
        await robot.post('/api/drive', { chassis: { speed: 0.01, turn: 0 }, id: 'other', holdMs: 500 });
        return takeOver.isVisible();
      });
      expect(await slider.boundingBox(), `at ${width} px beside Take over`).to.deep.equal(box);
    }
  });

  it('the link "Full page" on a phone is above the mode buttons, so that no thumb on a stick or on STOP touches the link', async () => {
    const page = await open(PHONE);
    const bottom = (await page.getByRole('link', { name: 'Full page' }).boundingBox())!;
    const modes = (await page.locator('.modes').first().boundingBox())!;
    expect(bottom.y + bottom.height).to.be.lessThan(modes.y);
  });

  it('the key W still drives while the speed limit slider has the focus, but the arrow keys only move the slider', async () => {
    const page = await open();
    const slider = page.getByRole('slider');
    await slider.click();
    const limit = await slider.inputValue();
    const asked = motionsAskedBy(page);
    await pressed(page, 'ArrowRight', 'KeyL');
    expect(Number(await slider.inputValue())).to.be.greaterThan(Number(limit));
    expect(asked).to.deep.equal([]);
    await driveAhead(page);
    await page.keyboard.up('KeyW');
    await shows(page.locator('.drive-state output'), /answer – ms/);
  });

  it('driving with keys ends if the window loses the focus, and does not begin if W is typed in a gain field', async () => {
    const page = await open();
    await driveAhead(page);
    await page.evaluate("window.dispatchEvent(new Event('blur'))");
    await eventually(isAtRest);
    await shows(alerts(page), /lost the focus/);
    await page.keyboard.up('KeyW');
    // Letters in a field do not drive.
    await page.locator('.gain input').first().focus();
    const asked = motionsAskedBy(page);
    await pressed(page, 'ArrowUp', 'KeyW', 'KeyL');
    expect(asked).to.deep.equal([]);
  });

  it('driving with keys ends if the Command key (Meta) is pressed, because a browser may then not report the release of other keys', async () => {
    const page = await open();
    await driveAhead(page);
    await page.keyboard.down('Meta');
    await eventually(isAtRest);
    const asked = motionsAskedBy(page);
    await page.keyboard.up('Meta');
    await pressed(page, 'KeyL');
    expect(asked).to.deep.equal([]);
    await page.keyboard.up('KeyW');
  });

  it('a key held through a stop and a resume does not move the robot again, even if another key is tapped', async () => {
    const page = await open();
    await driveAhead(page);
    await robot.post('/api/stop');
    await shows(alerts(page), /Stopped/);
    await robot.post('/api/resume');
    await robot.post('/api/chassis/mode/switch', { mode: 'manual' });
    await shows(alerts(page), /Let go of all sticks and keys first/);
    const asked = motionsAskedBy(page);
    await page.keyboard.press('KeyS');
    await pressed(page, 'KeyL');
    expect(asked).to.deep.equal([]);
    await page.keyboard.up('KeyW');
  });

  it('keys drive faster than the speed limit only while both shoulder buttons of a gamepad are held', async () => {
    const page = await open();
    const commandAt = (speed: number) =>
      page.waitForRequest(
        request => request.url().endsWith('/api/drive') && request.postDataJSON().chassis?.speed === speed,
      );
    const hold = (...buttons: readonly number[]) =>
      page.evaluate(`
        window.pad ??= { connected: true, mapping: 'standard', axes: [0, 0, 0, 0] };
        window.pad.buttons = Array.from({ length: 17 },
          (_, index) => ({ pressed: ${JSON.stringify(buttons)}.includes(index) }));
        navigator.getGamepads = () => [window.pad];
      `);
    for (const [buttons, speed] of [
      [[4, 5], 1.5],
      [[5], 0.45],
    ] as const) {
      await hold(...buttons);
      let isSent = false;
      void commandAt(speed).then(() => {
        isSent = true;
      });
      await until(
        async () => isSent,
        () => page.keyboard.down('KeyW'),
        () => page.keyboard.up('KeyW'),
      );
      await page.keyboard.up('KeyW');
    }
  });

  it('a gamepad drives only if it is connected and its left shoulder button is held, and button B of any gamepad stops the robot', async () => {
    const page = await open();
    await page.evaluate(`
      window.pad = { index: 1, connected: true, mapping: 'standard', axes: [0, -1, 0, 0],
        buttons: Array.from({ length: 17 }, () => ({ pressed: false })) };
      window.reads = 0;
      // A receiver without its gamepad shows one that nobody holds.
      const idle = structuredClone(window.pad);
      [idle.index, idle.axes] = [0, [0, 0, 0, 0]];
      navigator.getGamepads = () => { window.reads += 1; return [idle, window.pad]; };
    `);
    const reads = (count: number) =>
      eventually(async () => (await page.evaluate<number>('window.reads')) >= count);
    const asked = motionsAskedBy(page);
    const before = await motion();
    await reads(5);
    expect(asked).to.deep.equal([]);
    const rest = async () => {
      await page.evaluate('window.reads = 0; window.pad.axes = [0, 0, 0, 0]');
      await reads(5);
    };
    await rest();
    await until(
      async () => (await motion()).x > before.x + 0.1,
      () => page.evaluate('window.pad.buttons[4].pressed = true; window.pad.axes = [0, -1, 0, 0]'),
      rest,
    );
    await page.evaluate('document.hasFocus = () => false');
    await eventually(isAtRest);
    asked.length = 0;
    await page.evaluate('delete document.hasFocus; window.reads = 0');
    await reads(20);
    expect(asked, 'of a gamepad that was deflected while another window had the focus').to.deep.equal([]);
    await rest();
    await until(
      async () => !(await isAtRest()),
      () => page.evaluate('window.pad.axes = [0, -1, 0, 0]'),
      rest,
    );
    await page.evaluate('navigator.getGamepads = () => [null]');
    await eventually(isAtRest);
    asked.length = 0;
    await page.evaluate(
      'window.reads = 0; navigator.getGamepads = () => { window.reads += 1; return [window.pad]; }',
    );
    await reads(20);
    expect(asked, 'of a gamepad that comes back deflected').to.deep.equal([]);
    await page.evaluate(
      'window.pad.axes = [0, 0, 0, 0]; window.other = structuredClone(window.pad); window.other.index = 2; window.other.buttons[1].pressed = true; navigator.getGamepads = () => [window.pad, window.other]',
    );
    const isStopped = async () => (await truth()).chassis.stopped === true;
    await eventually(isStopped);
    await robot.post('/api/resume');
    await eventually(async () => !(await isStopped()));
    // B of the other gamepad is still down.
    await page.evaluate('window.pad.buttons[1].pressed = true');
    await eventually(isStopped);
  });

  it('driving ends if a second page takes over, and the first page then names the new driver', async () => {
    const [one, other] = [await open(), await open()];
    await one.bringToFront();
    await driveAhead(one);
    const panel = other.getByRole('region', { name: 'Drive' });
    await panel.getByRole('button', { name: 'Take over' }).click();
    await eventually(isAtRest);
    await shows(one.getByRole('region', { name: 'Drive' }), /Another driver: 127\.0\.0\.1/);
    const asked = motionsAskedBy(one);
    await other.bringToFront();
    await driveAhead(other, 'KeyS');
    await other.keyboard.up('KeyS');
    await eventually(isAtRest);
    expect(asked).to.deep.equal([]);
  });

  it('driving ends if the daemon is killed, and after the restart a held key moves nothing until it is released and pressed again', async () => {
    const page = await open();
    await driveAhead(page);
    const port = new URL(robot.url).port;
    await robot.daemon.kill();
    await robot.startDaemon(port);
    await shows(page.locator('.link'), /Live/);
    await shows(alerts(page), /Let go|No readings/);
    // Until the page knows of the loss it sends commands, which the new daemon refuses: their time is of another run.
    const asked = motionsAskedBy(page);
    const untilMs = performance.now() + ROUND_MS;
    while (performance.now() < untilMs) expect(await isAtRest()).to.equal(true);
    expect(asked).to.deep.equal([]);
    await driveAhead(page);
    await page.keyboard.up('KeyW');
  });

  it('a stick follows only the primary button of a mouse, not a right click', async () => {
    const page = await open({ hash: '#match' });
    const asked = motionsAskedBy(page);
    const box = (await page.getByLabel('drive', { exact: true }).boundingBox())!;
    const drag = async (button: 'left' | 'right') => {
      await page.mouse.move(box.x + box.width / 2, box.y + 5);
      await page.mouse.down({ button });
      const { style } = await page
        .locator('.thumb')
        .first()
        .evaluate(one => ({ style: one.style.translate }));
      await page.mouse.up({ button });
      return style;
    };
    expect([await drag('right'), asked]).to.deep.equal(['0% 0%', []]);
    expect(await drag('left')).to.match(/^0% -\d/);
  });
});
