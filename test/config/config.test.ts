import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { defaultConfig } from '../../scripts/generate/default-config.js';
import { configProblem, loadConfig } from '../../src/config/config.js';
import { inTemporaryFolder } from '../support/daemon.js';

const DEFAULTS = { host: '127.0.0.1', state: '/tmp/state' };

async function load(text: string, overrides = {}): Promise<ReturnType<typeof loadConfig> | string> {
  return inTemporaryFolder(async folder => {
    const file = join(folder, 'config.yaml');
    await writeFile(file, text);
    try {
      return loadConfig(file, overrides, DEFAULTS);
    } catch (error) {
      return configProblem(error).replaceAll(file, 'FILE');
    }
  });
}

describe('configuration', () => {
  it('has a default for every setting', () => {
    const config = loadConfig(undefined, {}, DEFAULTS);
    expect(config.http).to.deep.equal({ host: '127.0.0.1', port: 8080, allowedHosts: [] });
    expect(config.laser).to.deep.equal({ gpio: 17, activeLow: false, maxOnS: 0, interlock: null });
    expect(config.supervision).to.deep.equal({ pollHz: 50, hostSilenceMs: 500, onControllerReset: 'manual' });
    expect(config.state.folder).to.equal('/tmp/state');
    for (const section of Object.values(config)) expect(Object.values(section)).not.to.include(undefined);
  });

  it('is read from the file, and options of the command line override the file', async () => {
    const text = 'http:\n  port: 9000\n  host: 10.0.0.1\nlaser:\n  interlock: {gpio: 27}\n';
    const config = await load(text, { port: 0, state: '/elsewhere' });
    if (typeof config === 'string') throw new Error(config);
    expect([config.http.host, config.http.port, config.state.folder]).to.deep.equal([
      '10.0.0.1',
      0,
      '/elsewhere',
    ]);
    expect(config.laser.interlock).to.deep.equal({ gpio: 27, activeLow: false });
  });

  it('keeps the defaults of all other permissions if it sets one permission of one phase', async () => {
    const usual = loadConfig(undefined, {}, DEFAULTS).match.phases;
    const config = await load('match:\n  phases:\n    pre: {laser: true}\n');
    if (typeof config === 'string') throw new Error(config);
    expect(config.match.phases).to.deep.equal({ ...usual, pre: { ...usual.pre, laser: true } });
  });

  it('has all defaults if the file is exactly as an installation creates it', async () => {
    expect(await load(defaultConfig())).to.deep.equal(loadConfig(undefined, {}, DEFAULTS));
  });

  it('still has all defaults if all settings of the installed file are uncommented, except `host` and `folder`', async () => {
    const uncommented = defaultConfig().replaceAll(/^ {2}# ((\w+|phases| {2}\w+): .+|phases:)$/gm, '  $1');
    // Only the two settings whose default depends on the machine are left.
    expect(uncommented.match(/^ {2}# +\w+:.*$/gm)).to.deep.equal(['  # host:', '  # folder:']);
    expect(await load(uncommented)).to.deep.equal(loadConfig(undefined, {}, DEFAULTS));
  });

  /** What is wrong, the file, and the message: the file, the line, and what was expected. */
  const refused: readonly (readonly [mistake: string, text: string, complaint: string])[] = [
    [
      'a misspelled setting',
      'laser:\n  gpoi: 4\n',
      'FILE:2: laser.gpoi: there is no such setting; expected one of gpio, activeLow, maxOnS, interlock',
    ],
    [
      'a misspelled section',
      'lasers:\n  gpio: 4\n',
      'FILE:1: lasers: there is no such setting; expected one of http, i2c, laser, supervision, drive, gains, state, access, match, log',
    ],
    [
      'a word instead of a number below two empty lines',
      '\n\nlaser:\n  maxOnS: ten\n',
      'FILE:4: laser.maxOnS: expected a number of seconds, 0 or more; found "ten"',
    ],
    [
      'a port above 65535',
      'http: {port: 70000}',
      'FILE:1: http.port: expected a port from 0 to 65535, 0 for any free one; found 70000',
    ],
    [
      'a host with a port',
      'http: {host: "0.0.0.0:8080"}',
      'FILE:1: http.host: expected an address to listen on, without a port, such as 0.0.0.0; found "0.0.0.0:8080"',
    ],
    [
      'a setting without a value',
      'http:\n  port:\n',
      'FILE:2: http.port: expected a port from 0 to 65535, 0 for any free one; found null',
    ],
    [
      'a minimum above its maximum',
      'gains:\n  bounds:\n    kp: {min: 2, max: 1}\n',
      'FILE:3: gains.bounds.kp.max: expected limits such as {kp: {min: 0, max: 100}}, min below max; found 1',
    ],
    [
      'a list where the settings of a section are expected',
      'http: [1]',
      'FILE:1: http: expected settings, each as "name: value"; found [1]',
    ],
    ['only a single word', 'hello', 'FILE:1: expected settings in sections; found "hello"'],
    [
      'two wrong values',
      'http:\n  port: -1\nlog:\n  level: loud\n',
      'FILE:2: http.port: expected a port from 0 to 65535, 0 for any free one; found -1\n' +
        'FILE:4: log.level: expected debug, info, warn or error; found "loud"',
    ],
    ['a setting that is given twice', 'http:\n  port: 1\n  port: 2\n', 'FILE:3: port is given twice'],
    [
      'a minimum that is not a number',
      'gains:\n  bounds:\n    ki: {min: .nan}\n',
      'FILE:3: gains.bounds.ki.min: expected limits such as {kp: {min: 0, max: 100}}, min below max; found "NaN"',
    ],
    [
      'one pin for both laser and interlock',
      'laser:\n  gpio: 4\n  interlock: {gpio: 4}\n',
      "FILE:3: laser.interlock.gpio: expected null, or another pin than the laser's, such as {gpio: 5, activeLow: true}; found 4",
    ],
    [
      'a host silence that is shorter than 3 polls',
      'supervision:\n  pollHz: 5\n',
      'FILE:1: supervision.hostSilenceMs: expected 0, or whole milliseconds from 100 to 60000 and of at least 3 polls; found 500',
    ],
    [
      'three wrong values in two lines',
      'gains:\n  bounds: {kp: {min: 2, max: 1}, kd: {min: 1, max: 0}}\nlog:\n  level: loud\n',
      'FILE:2: gains.bounds.kp.max: expected limits such as {kp: {min: 0, max: 100}}, min below max; found 1\n' +
        'FILE:2: gains.bounds.kd.max: expected limits such as {kp: {min: 0, max: 100}}, min below max; found 0\n' +
        'FILE:4: log.level: expected debug, info, warn or error; found "loud"',
    ],
    [
      'a misspelled permission of a phase',
      'match:\n  phases:\n    pre: {lasers: true}\n',
      'FILE:3: match.phases.pre.lasers: there is no such setting; expected one of drive, laser, tune, resume, modes',
    ],
    ['a YAML alias', 'http: *elsewhere', 'FILE:1: expected values, no aliases'],
    [
      'YAML aliases in three lines and a list in the place of a section name',
      'http: *one\nlog:\n  level: *two\n[match]: [*three, *four]\n',
      'FILE:1: expected values, no aliases\n' +
        'FILE:3: expected values, no aliases\n' +
        'FILE:4: expected a name before the colon\n' +
        'FILE:4: expected values, no aliases',
    ],
    [
      'settings where the name of a setting is expected',
      'http:\n  ? {port: 1}\n  : 2\n',
      'FILE:2: expected a name before the colon',
    ],
    [
      'a list where the name of a section is expected',
      '[http]: 1',
      'FILE:1: expected a name before the colon',
    ],
    ['an unknown YAML tag', 'http: {port: !odd 1}', 'FILE:1: Unresolved tag: !odd'],
    ['a second YAML document', 'log:\n---\nlog:\n', 'FILE:2: expected one document, and no "---" after it'],
    [
      'the unknown setting __proto__',
      'http: {__proto__: 1}',
      'FILE:1: http.__proto__: there is no such setting; expected one of host, port, allowedHosts',
    ],
  ];
  for (const [mistake, text, complaint] of refused) {
    it(`is refused if its file has ${mistake}, and the message names the line of each mistake`, async () => {
      const warnings: Error[] = [];
      const listener = (warning: Error) => warnings.push(warning);
      process.on('warning', listener);
      expect(await load(text)).to.equal(complaint);
      await new Promise(resolve => setImmediate(resolve));
      process.off('warning', listener);
      expect(warnings).to.deep.equal([]);
    });
  }

  it('fails to load with the code `bad-config` if the file is missing', () => {
    expect(() => loadConfig('/nowhere.yaml', {}, DEFAULTS))
      .to.throw()
      .with.property('code', 'bad-config');
  });
});
