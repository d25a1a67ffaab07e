import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Context } from 'mocha';
import { type Browser, chromium, type Page } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** No GPU and no sandbox in a container; and the browser itself asks nothing of anyone. */
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

function browserPath(): string | undefined {
  const { CHROMIUM } = process.env;
  return [...(CHROMIUM === undefined ? [] : [CHROMIUM]), ...PLACES].find(path => existsSync(path));
}

/** A real browser that reaches this machine only. Skips where there is none, and says so; in CI that is a failure. */
export async function openBrowser(context?: Context): Promise<Browser> {
  const executablePath = browserPath();
  if (executablePath !== undefined) return chromium.launch({ executablePath, args: ARGUMENTS });
  const reason = 'no browser: apt install chromium, or name another one in $CHROMIUM';
  if (context === undefined || process.env.CI === 'true') throw new Error(reason);
  console.log(`      skipped, ${reason}`);
  return context.skip();
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const MOST_LOOKS = 5;

/**
 * What axe-core finds serious or worse, each as `rule: element`. The page hears nothing of the daemon while that looks at it,
 * so that it may be about to grey under its eyes: what is a fault stays one.
 */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  let faults = await faultsNow(page);
  for (let looks = 1; looks < MOST_LOOKS && faults.length > 0; looks += 1) faults = await faultsNow(page);
  return faults;
}

/** All files are of this page, so that none needs to be loaded before; and only what is violated is written down. */
function faultsNow(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    // @ts-expect-error: axe-core has put itself there.
    const { violations } = await globalThis.axe.run({ preload: false, resultTypes: ['violations'] });
    return violations
      .filter((violation: { impact: string }) => ['serious', 'critical'].includes(violation.impact))
      .flatMap((violation: { id: string; nodes: { html: string; failureSummary: string }[] }) =>
        violation.nodes.map(node => `${violation.id}: ${node.html} ${node.failureSummary}`),
      );
  });
}
