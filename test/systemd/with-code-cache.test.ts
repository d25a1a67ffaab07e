import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { HOME, layOutSystem } from '../../scripts/package/layout.js';
import { NODE_OPTIONS } from '../../scripts/package/node-options.js';
import { temporaryFolder } from '../support/daemon.js';

const SCRIPT = resolve('systemd/with-code-cache.cjs');

const PROGRAM = `'use strict';
const { basename } = require('node:path');
const { greeting } = require('./greeting.cjs');
function fail() {
  throw new Error('fails');
}
const [command, file, ...args] = process.argv;
console.log(greeting, basename(file), ...args, __filename === file);
if (args.includes('fail')) fail();
`;

describe('with-code-cache (starts a program from compiled code)', function () {
  // Each test starts several processes.
  this.timeout(30_000);

  const temporary = temporaryFolder();
  let folder: string;
  let program: string;
  let cache: string;

  beforeEach(() => {
    folder = temporary();
    program = join(folder, 'program.js');
    cache = `${program}.cache`;
    writeFileSync(program, PROGRAM);
    writeFileSync(join(folder, 'greeting.cjs'), "exports.greeting = 'hello';\n");
  });

  function run(...args: readonly string[]) {
    return spawnSync(process.execPath, [...NODE_OPTIONS, SCRIPT, ...args], { encoding: 'utf8' });
  }

  function make(): void {
    const { status, stderr } = run('--make', program);
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  }

  /** V8's verdict on the cache: 'false' if it is in use, 'true' if it is rejected, 'undefined' if there is none. */
  function rejected(options: readonly string[] = NODE_OPTIONS, node = process.execPath): string {
    const asked = `require(${JSON.stringify(SCRIPT)}).compile(${JSON.stringify(program)}).cachedDataRejected`;
    return execFileSync(node, [...options, '-p', asked], { encoding: 'utf8' }).trim();
  }

  function expectToRun(): void {
    const { stdout, stderr } = run(program, 'serve', '--port');
    expect(stderr).to.equal('');
    expect(stdout).to.equal('hello program.js serve --port true\n');
  }

  it('uses a cache if there is one, and the program prints the same as without a cache', () => {
    expect(rejected()).to.equal('undefined');
    expectToRun();
    make();
    expect(rejected()).to.equal('false');
    expectToRun();
  });

  it('writes a cache that the daemon can read, whatever the umask of root', () => {
    execFileSync('sh', ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, SCRIPT, '--make', program]);
    expect(statSync(cache).mode & 0o777).to.equal(0o644);
  });

  it('fails with a message if the cache does not fit on the disk, and leaves no part of that cache behind', () => {
    // No file may be larger than one block of 512 bytes, as on a full disk.
    writeFileSync(program, PROGRAM.padEnd(5000, '\n// not short'));
    const script = 'ulimit -f 1; exec "$@"';
    const args = ['-c', script, 'sh', process.execPath, ...NODE_OPTIONS, SCRIPT, '--make', program];
    const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
    expect(stderr).to.include('file too large');
    expect(status).to.equal(1);
    expect(readdirSync(folder)).to.have.members(['greeting.cjs', 'program.js']);
    expectToRun();
  });

  it('makes a cache that the service can use, even if root installs with other Node flags in `NODE_OPTIONS`', () => {
    layOutSystem(folder);
    const installed = join(folder, HOME, 'dist/src/main.js');
    mkdirSync(dirname(installed), { recursive: true });
    copyFileSync(program, installed);
    const script = readFileSync(join(folder, HOME, 'make-code-cache'), 'utf8')
      .replaceAll(`/${HOME}`, join(folder, HOME))
      .replace('/usr/bin/node', process.execPath);
    const env = { ...process.env, NODE_OPTIONS: '--stack-trace-limit=50' };
    execFileSync('sh', ['-c', script], { env });
    program = installed;
    expect(rejected()).to.equal('false');
  });

  it('shows correct line numbers in stack traces, and ignores the cache after the program has changed', () => {
    make();
    const { status, stderr } = run(program, 'fail');
    expect(stderr).to.include(`at fail (${program}:5:9)`);
    expect(status).to.equal(1);
    writeFileSync(program, PROGRAM.replace('greeting, basename', "'hallo' , basename"));
    expect(readFileSync(program)).to.have.length(PROGRAM.length);
    expect(rejected()).to.equal('undefined');
    expect(run(program).stdout).to.match(/^hallo /);
  });

  it('rejects a cache that was made with other Node flags, or by another Node binary of the same version', () => {
    make();
    // V8 decides which flags matter for its code. This flag matters in every version.
    expect(rejected(['--no-opt'])).to.equal('true');
    const other = spawnSync(process.execPath, ['--no-opt', SCRIPT, program, 'x'], { encoding: 'utf8' });
    expect(other.stdout).to.match(/^hello /);
    const otherNode = join(folder, 'node');
    copyFileSync(process.execPath, otherNode);
    utimesSync(otherNode, 1, 1);
    expect(rejected(NODE_OPTIONS, otherNode)).to.equal('undefined');
  });

  it('rejects a damaged cache, and still runs the program', () => {
    make();
    const whole = readFileSync(cache);
    const flipped = Buffer.from(whole);
    const middle = whole.length >> 1;
    flipped.writeUInt8(whole.readUInt8(middle) ^ 1, middle);
    const cuts = [0, 3, 4, middle].map(length => whole.subarray(0, length));
    for (const damaged of [
      ...cuts,
      flipped,
      Buffer.alloc(whole.length, 'garbage'),
      Buffer.alloc(whole.length),
    ]) {
      writeFileSync(cache, damaged);
      expect(rejected(), `${damaged.length} bytes`).to.equal('undefined');
    }
    expectToRun();
  });
});
