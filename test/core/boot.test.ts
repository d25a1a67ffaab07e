import { expect } from 'chai';
import { systemBoot } from '../../src/core/boot.js';

describe('the boot of the machine', () => {
  it('has the same id for a daemon started by hand as for the service', () => {
    // The form in which systemd writes the boot id.
    expect(systemBoot({}).id).to.match(/^[0-9a-f]{32}$/);
  });
});
