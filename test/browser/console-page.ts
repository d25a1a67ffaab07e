import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { openBrowser } from '../support/browser.js';
import { Child } from '../support/child.js';
import { call, type HttpAnswer, suiteFolder } from '../support/daemon.js';

/** The state folders are in memory, because a disk that other tests keep busy may refuse a save. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const PATIENCE_MS = 30_000;

/**
 * Checks until the condition holds, with a pause in between. Checks without a pause would slow down page and daemon.
 * `wanted` is for the error after PATIENCE_MS.
 */
export async function eventually(holds: () => Promise<boolean>, wanted = () => String(holds)): Promise<void> {
  const untilMs = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > untilMs) throw new Error(`it did not come to this: ${wanted()}`);
    await new Promise(resolve => setTimeout(resolve, 15));
  }
}

/** Repeats a request as long as the simulated bus of a busy machine is too slow for it. */
export async function unhurried(ask: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  let answer = await ask();
  await eventually(async () => {
    if (answer.body?.code !== 'bus-busy') return true;
    answer = await ask();
    return false;
  });
  return answer;
}

/** The same for what a press in the page asks. A drive command is never repeated: the next one replaces it. */
const UNHURRIED_PRESSES = `
  const send = window.fetch;
  window.fetch = async (path, asked) => {
    for (;;) {
      const answer = await send(path, asked);
      const isBusy = answer.status === 503 && (await answer.clone().text()).includes('"code":"bus-busy"');
      if (!isBusy || path.endsWith('/drive')) return answer;
    }
  };
`;

/** Waits until the page shows this text. */
export async function shows(locator: Locator, pattern: RegExp): Promise<void> {
  let text = '';
  const fits = async () => {
    text = (await locator.textContent()) ?? '';
    return pattern.test(text);
  };
  await eventually(fits, () => `${pattern} in ${text}`);
}

export async function has(locator: Locator, attribute: string, value: string | null): Promise<void> {
  await eventually(async () => (await locator.getAttribute(attribute)) === value);
}

export const field = (of: Page, name: string) => of.getByLabel(name, { exact: true });
export const card = (of: Page, unit: string) => of.getByRole('region', { name: `${unit} gains` });
export const save = (of: Page, unit: string) => card(of, unit).getByRole('button', { name: /^Keep( \d|$)/ });
export const mode = (of: Page, unit: string, name: string) =>
  of.getByRole('group', { name: `${unit} mode` }).getByRole('button', { name });
export const press = (of: Page, name: string) => of.getByRole('button', { name, exact: true }).click();
export const alerts = (of: Page) => of.locator('.strip');

/** The match view on a phone. */
export const PHONE = { width: 390, height: 844, touch: true, hash: '#match' } as const;
export const LANDSCAPE = { ...PHONE, width: 844, height: 390 } as const;

/** A held button acts after this time, less the rounding of the browser's timers. */
export const HOLD_MS = 399;

/** The time in the page, in milliseconds. */
export const nowMs = (of: Page) => of.evaluate<number>('performance.now()');

/** When the page sent each request to this path that has been answered, as times of `nowMs`. */
export const sentMs = (of: Page, path: string) =>
  of.evaluate<number[]>(`performance.getEntriesByType('resource')
    .filter(({ name }) => name.endsWith('${path}')).map(({ startTime }) => startTime)`);

/** From now on the page records the path of each POST, as soon as it is sent. */
export const recordPosts = (of: Page) =>
  of.evaluate(`
    window.posts = [];
    const send = window.fetch;
    window.fetch = (path, asked) => {
      if (asked.method === 'POST') posts.push(path);
      return send(path, asked);
    };
  `);
export const posts = (of: Page) => of.evaluate<string[]>('posts');

/** The places of the elements that fit the selector. */
export const placesOf = (of: Page, selector: string) =>
  of
    .locator(selector)
    .evaluateAll(found =>
      found
        .map(one => one.getBoundingClientRect())
        .map(({ x, y, width, height }) => ({ x, y, width, height })),
    );

export async function middleOf(one: Locator, id = 0) {
  const { x, y, width, height } = (await one.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2, id };
}

/** Returns a function that touches the page as fingers do. Fingers that are in no list are lifted. */
export async function fingersOn(of: Page) {
  const session = await of.context().newCDPSession(of);
  return (
    type: 'touchStart' | 'touchMove' | 'touchEnd',
    ...touchPoints: { readonly x: number; readonly y: number; readonly id?: number }[]
  ) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
}

interface Opening {
  readonly width?: number;
  readonly height?: number;
  readonly touch?: boolean;
  /** The hash of the URL, with its `#`. */
  readonly hash?: string;
}

/**
 * Call this in each suite. It starts a simulated robot in its own process, clears its faults before each test, and
 * starts a real browser.
 */
export function consoleInBrowser() {
  let browser: Browser | undefined;
  let daemon: Child | undefined;
  let url = '';
  let complaints: string[] = [];

  const startDaemon = async (port = '0') => {
    const config = join(folder(), 'config.yaml');
    // A machine that stalls would otherwise end the test steps, or stop a match. Trials allow no longer silence of the host.
    const patient = 'supervision: {hostSilenceMs: 2000}\nmatch: {refereeSilenceMs: 60000}\n';
    await writeFile(config, `gains:\n  bounds: {kp: {max: 1000}, ki: {min: 0}}\n${patient}`);
    const state = join(folder(), 'state');
    daemon = new Child('sim/main.js', ['--port', port, '--state', state, '--config', config]);
    url = await daemon.url();
  };
  const post = (path: string, body?: unknown) => unhurried(() => call(url, 'POST', path, body));
  const fault = (target: string, name: string) => post('/sim/faults', { target, fault: name });

  before(async function () {
    browser = await openBrowser(this);
    await startDaemon();
  });
  after(async () => {
    await browser?.close();
    await daemon?.kill();
  });
  const folder = suiteFolder(MEMORY);
  beforeEach(async () => {
    for (const unit of ['gimbal', 'chassis']) {
      await fault(unit, 'plug');
      await fault(unit, 'clear');
    }
    await fault('bus', 'clear');
    await fault('pin', 'clear');
    await eventually(async () => {
      const { body } = await call(url, 'GET', '/api/status');
      return body.gimbal.online && body.chassis.online;
    });
    await post('/api/resume');
    await post('/api/laser', { action: 'off' });
    for (const unit of ['gimbal', 'chassis']) await post(`/api/${unit}/mode/switch`, { mode: 'manual' });
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });

  const running = () => {
    if (browser === undefined || daemon === undefined) throw new Error('not started');
    return { browser, daemon };
  };
  return {
    get browser() {
      return running().browser;
    },
    get daemon() {
      return running().daemon;
    },
    /** The state folder. */
    get state() {
      return join(folder(), 'state');
    },
    get url() {
      return url;
    },
    /** The errors in the browser's console since the last page was opened. */
    get complaints(): readonly string[] {
      return complaints;
    },
    async open({ width = 1280, height = 720, touch = false, hash = '' }: Opening = {}) {
      const context = await running().browser.newContext({
        viewport: { width, height },
        colorScheme: 'dark',
        hasTouch: touch,
        isMobile: touch,
      });
      // Refuses the wake lock at once, because a late answer of the browser would change the match view's text.
      await context.addInitScript('navigator.wakeLock.request = () => Promise.reject(new Error())');
      await context.addInitScript(UNHURRIED_PRESSES);
      const page = await context.newPage();
      complaints = [];
      page.on('console', message => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', error => complaints.push(error.message));
      await page.goto(`${url}/${hash}`);
      await shows(page.locator('.link'), /Live/);
      if (hash !== '') return page;
      for (const place of [0, -1]) await eventually(() => page.locator('.gain input').nth(place).isEnabled());
      // The checklist appears last, and moves everything below it.
      await page.getByRole('region', { name: 'First minute' }).waitFor();
      return page;
    },
    startDaemon,
    get: (path: string) => call(url, 'GET', path),
    post,
    /** Puts the unit in debug mode, and excites a loop. */
    excite: async (unit: string, loop: string, amplitude: number, periodS: number) => {
      await post(`/api/${unit}/mode/switch`, { mode: 'debug' });
      return post(`/api/${unit}/excitation`, { loop, amplitude, periodS });
    },
    truth: async () => (await call(url, 'GET', '/sim/state')).body,
    fault,
  };
}

/** The texts of the visible parts whose text is wider than the part. */
export const clipped = (page: Page, selector: string) =>
  page
    .locator(selector)
    .evaluateAll(parts =>
      parts
        .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth)
        .map(one => one.textContent),
    );

export const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
