import type { Page, Route } from 'playwright-core';

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
