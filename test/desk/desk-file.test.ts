import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { configProblem } from '../../src/config/config.js';
import { readDeskFile } from '../../src/desk/desk-file.js';
import { inTemporaryFolder } from '../support/daemon.js';

const GOOD = `robots:
  - name: Red 1
    address: http://192.0.2.11:8080
    token: a958-qtpq-xerk-zhhn
  - {name: Blue 1, address: "http://blue-1.local:8080/", token: 7dpq-hepc-pepb-tsgt}
matches:
  - id: final
    robots: [Red 1, Blue 1]
    auto: 15
    teleop: 120
`;

describe('the field file of a desk', () => {
  const read = (text: string, mode = 0o600) =>
    inTemporaryFolder(async folder => {
      const file = join(folder, 'field.yaml');
      writeFileSync(file, text);
      chmodSync(file, mode);
      try {
        return readDeskFile(file, '/state');
      } catch (error) {
        return configProblem(error).replaceAll(`${file}:`, '');
      }
    });

  it('gives the desk its robots and matches, and the host 127.0.0.1 if the file names no host', async () => {
    expect(await read(GOOD)).to.deep.equal({
      host: '127.0.0.1',
      port: 8090,
      state: '/state',
      allowedHosts: [],
      pauseWithoutPageMs: 5000,
      robots: [
        { name: 'Red 1', address: 'http://192.0.2.11:8080', token: 'a958-qtpq-xerk-zhhn' },
        { name: 'Blue 1', address: 'http://blue-1.local:8080', token: '7dpq-hepc-pepb-tsgt' },
      ],
      plans: [{ id: 'final', robots: ['Red 1', 'Blue 1'], autoS: 15, teleopS: 120 }],
    });
  });

  for (const [mistake, text, line, words] of [
    ['a robot without a token', GOOD.replace('    token: a958-qtpq-xerk-zhhn\n', ''), 2, 'robots.0'],
    ['an address with a port above 65535', GOOD.replace(':8080\n', ':80800\n'), 3, 'is no address'],
    ['two robots with the same name', GOOD.replace('Blue 1, addr', 'Red 1, addr'), 5, 'given twice: Red 1'],
    ['an address with a path', GOOD.replace(':8080\n', ':8080/x\n'), 3, 'robots.0.address'],
    [
      'two robots with the same address',
      GOOD.replace('http://blue-1.local:8080', 'http://192.0.2.11:8080'),
      5,
      'given twice: http://192.0.2.11:8080',
    ],
    ['a match with the same robot twice', GOOD.replace('[Red 1, Blue 1]', '[Red 1, Red 1]'), 8, 'none twice'],
    ['a match without a robot', GOOD.replace('[Red 1, Blue 1]', '[]'), 8, 'at least one robot'],
    ['a host that can be no address', `${GOOD}host: 999.1.1.1\n`, 11, 'is no address'],
    ['a host in brackets', `${GOOD}host: '[::1]'\n`, 11, 'is no address'],
    ['an unknown setting', `${GOOD}prot: 80\n`, 11, 'prot'],
  ] as const)
    it(`is rejected with the line number of the mistake if the file has ${mistake}`, async () => {
      const said = await read(text);
      expect(said).to.be.a('string');
      expect(String(said))
        .to.match(new RegExp(`^${line}: `))
        .and.include(words);
    });

  it('is accepted even if a match names a robot that the file does not describe', async () => {
    const file = await read(GOOD.replace('[Red 1, Blue 1]', '[Red 1, Blue 2]'));
    expect(file).to.have.nested.property('plans[0].robots').that.deep.equals(['Red 1', 'Blue 2']);
  });

  it('is rejected if other users may read it', async () => {
    expect(String(await read(GOOD, 0o640))).to.include('chmod 600');
  });
});
