import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { imagesFor, type OtherValues } from './robot-file.js';

describe('`npm run firmware`', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunnion-build-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [what, values, refusal] of [
    [
      'with the unused setting `ENCODER_SILENT_V`',
      { ENCODER_SILENT_MS: '340\n#define ENCODER_SILENT_V 12' },
      /:\d+: ENCODER_SILENT_V is not used/,
    ],
    [
      'with an `ENCODER_SILENT_MS` that is too short',
      { ENCODER_SILENT_MS: '99' },
      /:\d+: ENCODER_SILENT_MS must be 0, or/,
    ],
    [
      'with a `CURRENT_ZERO_MV` that is too low to measure current in both directions',
      { CURRENT_ZERO_MV: '500', CURRENT_MAX_MA: '15000' },
      /:\d+: CURRENT_ZERO_MV must be 0 if/,
    ],
    [
      'with a current limit above the range of the input that measures the current',
      { CURRENT_MAX_MA: '23565' },
      /:\d+: CURRENT_MAX_MA is more/,
    ],
    [
      'with a lowest supply voltage in volts instead of millivolts',
      { SUPPLY_MIN_MV: '18' },
      /:\d+: SUPPLY_MIN_MV must be from/,
    ],
    [
      'with a lowest supply voltage above the supply voltage',
      { SUPPLY_MIN_MV: '24001' },
      /:\d+: SUPPLY_MIN_MV must be from/,
    ],
    [
      'with a supply voltage above the range of the input that measures it',
      { SUPPLY_FULL_SCALE_MV: '20000' },
      /:\d+: SUPPLY_FULL_SCALE_MV must be from/,
    ],
    ['without the setting `TRACK_MM`', { TRACK_MM: null }, /^\S+: TRACK_MM is missing$/m],
    ['with a text in quotes instead of a number', { SUPPLY_V: '"24"' }, /:\d+: SUPPLY_V must be a number/],
    ['with a word instead of a number', { LAMP_PIN: 'none' }, /:\d+: LAMP_PIN must be a number/],
    ['with a unit after a number', { YAW_GEAR: '15 turns' }, /:\d+: YAW_GEAR must be a number/],
    ['with a setting that has no value', { SDA_PIN: '' }, /:\d+: SDA_PIN must be a number/],
  ] as const satisfies readonly [string, OtherValues, RegExp][])
    it(`refuses a \`robot.h\` ${what}, names the setting in its error, and builds nothing`, () => {
      expect(() => imagesFor(values, folder)).to.throw(refusal);
      expect(readdirSync(folder)).to.deep.equal(['robot.h']);
    });

  it('leaves both old images unchanged if a value is valid for the gimbal but not for the chassis', () => {
    imagesFor({}, folder);
    const images = () => ['gimbal.uf2', 'chassis.uf2'].map(name => readFileSync(join(folder, name)));
    const old = images();
    const own = '360\n#ifndef GIMBAL\n#undef TRACK_MM\n#define TRACK_MM 1\n#endif';
    expect(() => imagesFor({ YAW_GEAR: '16', TRACK_MM: own }, folder)).to.throw(/TRACK_MM must be from/);
    expect(images()).to.deep.equal(old);
  });
});
