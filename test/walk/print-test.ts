import type { Found } from './shrink.js';

/** Prints a broken history as a test that can be pasted into test/walk. */
export function testOf({ history, broken }: Found): string {
  const steps = history.steps.map(step => `        ${JSON.stringify(step)},`).join('\n');
  return `  it(${JSON.stringify(`keeps its promise: ${broken.promise}`)}, async () => {
    // ${broken.message.split('\n')[0]}
    const { broken } = await walk({
      settings: ${JSON.stringify(history.settings)},
      steps: [
${steps}
      ],
    });
    expect(broken?.message).to.equal(undefined);
  });`;
}
