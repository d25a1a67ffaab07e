import type { Page, Request, Route } from 'playwright-core';
import { eventually } from './console-page.js';

/** Holds what the page asks of a path, until it is let go; in `asked` the methods, the newest last. */
export async function holding(
  page: Page,
  path: RegExp,
  method: string,
  when: 'before' | 'after' = 'before',
): Promise<{ asked: readonly string[]; release(): void }> {
  const asked: string[] = [];
  let release = (): void => undefined;
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  await page.route(path, async (route: Route) => {
    asked.push(route.request().method());
    if (route.request().method() !== method) return route.continue();
    if (when === 'before') await released;
    const response = await route.fetch();
    await released;
    await route.fulfill({ response });
  });
  return { asked, release };
}

/**
 * A network on which the first Off arrives, with its answer held back until it is let go. Those that the page sends beside
 * it are lost. Only for a patient page: any other gives the first one up meanwhile.
 */
export async function holdingFirstOff(
  page: Page,
): Promise<{ arrives(): Promise<void>; release(): Promise<void> }> {
  let first: Request | undefined;
  let isArrived = false;
  let bring = (): void => undefined;
  const brought = new Promise<void>(resolve => {
    bring = resolve;
  });
  await page.route(/api\/laser/, async route => {
    const request = route.request();
    if (!/"off"/.test(request.postData() ?? '')) return route.continue();
    if (first !== undefined) return route.abort();
    first = request;
    const response = await route.fetch();
    isArrived = true;
    await brought;
    await route.fulfill({ response });
  });
  return {
    arrives: () => eventually(async () => isArrived),
    release: async () => {
      const answered = page.waitForEvent('requestfinished', request => request === first);
      bring();
      await answered;
    },
  };
}

/**
 * A network that loses the packets of the first request that `isIt` picks, and brings them in the end, where the page still
 * asks: what it has taken back does not leave the browser.
 */
export async function delaying(
  page: Page,
  path: RegExp,
  isIt: (request: Request) => boolean = () => true,
): Promise<{ isAsked(): Promise<void>; end(): Promise<'arrived' | 'taken back'> }> {
  let bring = (): void => undefined;
  const brought = new Promise<void>(resolve => {
    bring = resolve;
  });
  let late: Request | undefined;
  const ended = new Promise<'arrived' | 'taken back'>(resolve => {
    page.on('requestfinished', request => request === late && resolve('arrived'));
    page.on('requestfailed', request => request === late && resolve('taken back'));
  });
  await page.route(path, async (route: Route) => {
    if (late !== undefined || !isIt(route.request())) return route.continue();
    late = route.request();
    await brought;
    await route.continue();
  });
  return {
    isAsked: () => eventually(async () => late !== undefined),
    end: () => {
      bring();
      return ended;
    },
  };
}
