/** npm run package [-- arm64|amd64 …]: trunnion_VERSION_ARCH.deb for each architecture, into the current folder. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ARCHITECTURES, type Architecture, buildAddons, libraryDependencies, NODE_MAJOR } from './addons.js';
import { bundleDaemon } from './bundle.js';
import { filesIn, HOME, layOutSystem, put } from './layout.js';

const { name, version, license, optionalDependencies, engines } = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}

/** The addons are compiled for one major. */
const nodeRange = [engines.node, `<${NODE_MAJOR + 1}`];

/** Same commit, same bytes. */
const epoch = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct');
const maintainer =
  process.env.DEBEMAIL === undefined
    ? git('log', '-1', '--format=%an <%ae>')
    : `${process.env.DEBFULLNAME ?? name} <${process.env.DEBEMAIL}>`;

const COPYRIGHT_LINE = /^.*\bcopyright\s+(\(c\)|©|\d).*$/gim;

function copyright(packages: readonly string[]): string {
  /** The holders of packages that come under the same words, by these. */
  const licences = new Map<string, { readonly named: string[]; readonly words: string }>();
  for (const folder of packages) {
    const its = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    const file = readdirSync(folder).find(entry => /^(licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? `Licence: ${its.license}` : readFileSync(join(folder, file), 'utf8');
    const holders = text.match(COPYRIGHT_LINE) ?? [];
    const words = text.replace(COPYRIGHT_LINE, '').trim();
    const key = words.replace(/\s+/g, ' ');
    const same = licences.get(key) ?? { named: [], words };
    licences.set(key, same);
    same.named.push([`${its.name} ${its.version}`, ...holders.map(line => `  ${line.trim()}`)].join('\n'));
  }
  const own = `Trunnion\n\n${readFileSync('LICENSE', 'utf8')}\nIt contains the npm packages below.\n`;
  const parts = [...licences.values()].map(({ named, words }) => `${named.join('\n')}\n\n${words}\n`);
  return [own, ...parts].join(`\n${'-'.repeat(78)}\n\n`);
}

function changelog(): string {
  const date = new Date(Number(epoch) * 1000).toUTCString().replace('GMT', '+0000');
  return `trunnion (${version}) stable; urgency=medium\n\n  * Version ${version}.\n\n -- ${maintainer}  ${date}\n`;
}

function control(architecture: Architecture, libraries: readonly string[], installedKiB: number): string {
  const dependencies = [
    ...nodeRange.map(bound => `nodejs (${bound.replace(/^>=/, '>= ').replace(/^</, '<< ')})`),
    'init-system-helpers (>= 1.54~)',
    'systemd',
    'udev',
    ...libraries,
  ];
  return `Package: trunnion
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${installedKiB}
Depends: ${dependencies.join(', ')}
Section: misc
Priority: optional
Description: daemon of a competition robot, with a simulator beside it
 Serves the robot's HTTP interface, drives the laser through a GPIO pin and the
 motor controllers of gimbal and chassis through I2C, and keeps their gains
 through power cuts. trunnion-sim is the same daemon on a simulated robot.
`;
}

async function layOut(root: string, architecture: Architecture, workFolder: string): Promise<void> {
  const home = join(root, HOME);
  const bundle = await bundleDaemon(Object.keys(optionalDependencies), home);
  const binaries = buildAddons(bundle.addons, architecture, home, workFolder);
  const manifest = { name, version, license, type: 'module', engines: { node: nodeRange.join(' ') } };
  put(root, `${HOME}/package.json`, `${JSON.stringify(manifest)}\n`);
  layOutSystem(root);
  put(root, 'usr/share/doc/trunnion/copyright', copyright(bundle.packages));
  put(root, 'usr/share/doc/trunnion/changelog.gz', gzipSync(changelog(), { level: 9 }));
  put(root, 'usr/share/doc/trunnion/operating.md', readFileSync('docs/operating.md'));

  const files = filesIn(root);
  const kiB = files.reduce((sum, file) => sum + Math.ceil(statSync(join(root, file)).size / 1024), 0);
  const md5 = (file: string) =>
    createHash('md5')
      .update(readFileSync(join(root, file)))
      .digest('hex');
  const sums = files.filter(file => !file.startsWith('etc/')).map(file => `${md5(file)}  ${file}\n`);
  put(root, 'DEBIAN/control', control(architecture, libraryDependencies(binaries, architecture), kiB));
  put(root, 'DEBIAN/md5sums', sums.join(''));
  put(root, 'DEBIAN/conffiles', '/etc/trunnion/config.yaml\n');
  for (const script of readdirSync('systemd/debian')) {
    put(root, `DEBIAN/${script}`, readFileSync(join('systemd/debian', script)), 0o755);
  }
}

async function makePackage(architecture: Architecture): Promise<void> {
  const workFolder = mkdtempSync(join(tmpdir(), 'trunnion-package-'));
  try {
    const root = join(workFolder, 'root');
    mkdirSync(root, { mode: 0o755 });
    await layOut(root, architecture, workFolder);
    const file = `trunnion_${version}_${architecture}.deb`;
    execFileSync('dpkg-deb', ['-Zxz', '--root-owner-group', '--build', root, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: epoch },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const count = filesIn(root).filter(path => !path.startsWith('DEBIAN/')).length;
    console.log(`${file}: ${count} files, ${Math.round(statSync(file).size / 1024)} KiB`);
  } finally {
    rmSync(workFolder, { recursive: true });
  }
}

const isArchitecture = (given: string): given is Architecture => Object.hasOwn(ARCHITECTURES, given);
const asked = process.argv.slice(2);
const architectures = (asked.length > 0 ? asked : Object.keys(ARCHITECTURES)).filter(isArchitecture);
if (architectures.length === 0 || architectures.length < asked.length) {
  console.error(`usage: npm run package [-- ${Object.keys(ARCHITECTURES).join('|')} …]`);
  process.exit(2);
}
process.umask(0o022);
for (const architecture of architectures) await makePackage(architecture);
