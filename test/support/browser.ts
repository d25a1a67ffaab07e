import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Context } from 'mocha';
import { type Browser, chromium, type Page } from 'playwright-core';
import { skip } from './programs.js';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** No GPU and no sandbox, because this may be a container. The browser itself sends no requests. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

/**
 * Starts a real browser that reaches this machine only. The environment variable CHROMIUM is its path, or `none` to skip
 * the tests that need a browser. They are also skipped if no browser is found; with `CI=true` that is a failure.
 */
export async function openBrowser(context?: Context): Promise<Browser> {
  const { CHROMIUM, CI } = process.env;
  if (CHROMIUM === 'none' && context !== undefined) return skip(context, 'no browser wanted: CHROMIUM=none');
  const executablePath = (CHROMIUM === undefined ? PLACES : [CHROMIUM]).find(path => existsSync(path));
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: ARGUMENTS });
  const reason = 'no browser: install chromium, or set CHROMIUM to the path of a browser';
  if (context === undefined || CI === 'true') throw new Error(reason);
  return skip(context, reason);
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const MOST_LOOKS = 5;

/**
 * The serious faults that axe-core finds in the light and in the dark scheme, each as `rule: element`. Looks again if there is
 * a fault: while axe-core runs, the page receives no data and may turn grey, which looks like a fault of contrast.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    let found = await faultsNow(page);
    for (let looks = 1; looks < MOST_LOOKS && found.length > 0; looks += 1) found = await faultsNow(page);
    faults.push(...found);
  }
  return faults;
}

/** Reports violations only. Loads no file again (`preload`), because all files belong to this page. */
function faultsNow(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    // @ts-expect-error: the script of axe-core defines this global.
    const { violations } = await globalThis.axe.run({ preload: false, resultTypes: ['violations'] });
    return violations
      .filter((violation: { impact: string }) => ['serious', 'critical'].includes(violation.impact))
      .flatMap((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
        violation.nodes.map(node => `${violation.id}: ${node.html} ${node.failureSummary}`),
      );
  });
}
