import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { imagesFor, type OtherValues } from './robot-file.js';

describe('npm run firmware', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'trunnion-build-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [what, values, refusal] of [
    [
      'the unused setting ENCODER_SILENT_V',
      { ENCODER_SILENT_MS: '340\n#define ENCODER_SILENT_V 12' },
      /:\d+: ENCODER_SILENT_V is not used/,
    ],
    [
      'an ENCODER_SILENT_MS that is too short',
      { ENCODER_SILENT_MS: '99' },
      /:\d+: ENCODER_SILENT_MS must be 0, or/,
    ],
    [
      'a CURRENT_ZERO_MV that is too low to measure both directions',
      { CURRENT_ZERO_MV: '500', CURRENT_MAX_MA: '15000' },
      /:\d+: CURRENT_ZERO_MV must be 0 if/,
    ],
    [
      'a current limit above the range of its input',
      { CURRENT_MAX_MA: '23565' },
      /:\d+: CURRENT_MAX_MA is more/,
    ],
    [
      'a lowest supply voltage in volts instead of millivolts',
      { SUPPLY_MIN_MV: '18' },
      /:\d+: SUPPLY_MIN_MV must be from/,
    ],
    [
      'a lowest supply voltage above the supply voltage',
      { SUPPLY_MIN_MV: '24001' },
      /:\d+: SUPPLY_MIN_MV must be from/,
    ],
    [
      'a supply voltage above the range of its input',
      { SUPPLY_FULL_SCALE_MV: '20000' },
      /:\d+: SUPPLY_FULL_SCALE_MV must be from/,
    ],
    ['a missing setting', { TRACK_MM: null }, /^\S+: TRACK_MM is missing$/m],
    ['a text instead of a number', { SUPPLY_V: '"24"' }, /:\d+: SUPPLY_V must be a number/],
    ['a word instead of a number', { LAMP_PIN: 'none' }, /:\d+: LAMP_PIN must be a number/],
    ['a number with its unit', { YAW_GEAR: '15 turns' }, /:\d+: YAW_GEAR must be a number/],
    ['a setting without a value', { SDA_PIN: '' }, /:\d+: SDA_PIN must be a number/],
  ] as const satisfies readonly [string, OtherValues, RegExp][])
    it(`refuses ${what}, names that setting in its error, and builds nothing`, () => {
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
