import { expect } from 'chai';
import { systemBoot } from '../../src/core/boot.js';

describe('the id of the system boot', () => {
  it('has 32 hexadecimal digits even if systemd did not start the daemon', () => {
    // The form in which systemd writes the boot id.
    expect(systemBoot({}).id).to.match(/^[0-9a-f]{32}$/);
  });
});
