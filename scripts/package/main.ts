import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { progress } from '../../src/command/output.js';
import { messageOf } from '../../src/core/errors.js';
import { argumentsOf, refuse, requireProgram, script, withFolder } from '../script.js';
import {
  ARCHITECTURES,
  type Architecture,
  buildAddons,
  libraryDependencies,
  requireCompiler,
} from './addons.js';
import { bundleDaemon } from './bundle.js';
import { DESK_DESCRIPTION, layOutDesk } from './desk-package.js';
import { filesIn, HOME, layOutSystem, put } from './layout.js';
import { type NodeMajor, nodeRelease } from './node-release.js';
import { billOfMaterials, completePackages, copyright, type Shipped, shippedIn } from './supply.js';

const ALL: readonly Architecture[] = ['arm64', 'amd64'];
const MAJORS: readonly NodeMajor[] = [20, 22, 24];

const { values, positionals } = argumentsOf(
  {
    command: 'npm run package',
    about: `Makes trunnion_VERSION_ARCHITECTURE.deb in this folder, for both architectures by default, and
trunnion-desk_VERSION_all.deb. What cannot be made here is
left out, with the reason. Needs npm's network for the headers of Node, and these Debian packages:
dpkg make python3 ${ALL.map(one => `g++-${ARCHITECTURES[one].debian}`).join(' ')}`,
    operands: [`[${ALL.join('|')} …]`],
  },
  {
    node: {
      type: 'string',
      multiple: true,
      about: `version of Node to serve: ${MAJORS.join(', ')} (default: all)`,
    },
  },
);
const asked = positionals.map(
  one => ALL.find(known => known === one) ?? refuse(`no architecture ${one}: ${ALL.join(' or ')}`),
);
const askedMajors =
  values.node?.map(
    one => MAJORS.find(known => String(known) === one) ?? refuse(`no Node ${one}: ${MAJORS.join(' or ')}`),
  ) ?? MAJORS;

const { version, license, optionalDependencies, engines } = JSON.parse(readFileSync('package.json', 'utf8'));

const natives = Object.keys(optionalDependencies);

/**
 * The time stamp of all files in the package, in seconds. It is the commit's, so that the same commit makes the same
 * bytes.
 */
function epoch(): string {
  const { SOURCE_DATE_EPOCH } = process.env;
  if (SOURCE_DATE_EPOCH !== undefined) return SOURCE_DATE_EPOCH;
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }).trim();
  } catch (cause) {
    throw new Error('not a git checkout: set SOURCE_DATE_EPOCH', { cause });
  }
}

/** The project has no address, which the reserved domain says. Who builds a package of their own may name themselves. */
function maintainer(): string {
  const { DEBEMAIL = 'no-address@trunnion.invalid', DEBFULLNAME = 'Trunnion project' } = process.env;
  return `${DEBFULLNAME} <${DEBEMAIL}>`;
}

function changelog(name: string): string {
  const date = new Date(Number(epoch()) * 1000).toUTCString().replace('GMT', '+0000');
  return `${name} (${version}) stable; urgency=medium\n\n  * Version ${version}.\n\n -- ${maintainer()}  ${date}\n`;
}

/** The oldest version of Node that the addons fit, and the first newer version that they do not fit. */
function nodeRange(majors: readonly NodeMajor[]): string[] {
  const oldest = Math.min(...majors);
  return [
    engines.node.startsWith(`>=${oldest}.`) ? engines.node : `>=${oldest}`,
    `<${Math.max(...majors) + 1}`,
  ];
}

/** The versions of Node, as a control file names them. */
function nodeBounds(majors: readonly NodeMajor[]): string[] {
  return nodeRange(majors).map(bound => `nodejs (${bound.replace(/^>=/, '>= ').replace(/^</, '<< ')})`);
}

function manifestOf(name: string, majors: readonly NodeMajor[]) {
  return { name, version, license, type: 'commonjs', engines: { node: nodeRange(majors).join(' ') } };
}

const DOCUMENTS = ['SECURITY.md', ...filesIn('docs').map(name => join('docs', name))];

/** What differs between the packages, besides their files. */
interface Contents {
  readonly shipped: readonly Shipped[];
  /** What it needs that not every package needs. */
  readonly depends: readonly string[];
  /** The first line is the summary. The others begin with a space. */
  readonly description: string;
  /** The folder of the scripts that dpkg runs. */
  readonly scripts: string;
}

interface Package extends Contents {
  readonly name: string;
  readonly architecture: string;
  readonly majors: readonly NodeMajor[];
}

function control(about: Package, installedKiB: number): string {
  const { name, architecture, majors, depends, description } = about;
  const all = [...nodeBounds(majors), 'init-system-helpers (>= 1.54~)', 'systemd', ...depends];
  return `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer()}
Installed-Size: ${installedKiB}
Depends: ${all.join(', ')}
Section: misc
Priority: optional
Description: ${description}`;
}

/** Writes what every package has: papers, checksums, and the files for dpkg. */
function finish(root: string, about: Package): void {
  const { name, shipped, scripts } = about;
  const doc = `usr/share/doc/${name}`;
  put(root, `${doc}/copyright`, copyright(shipped));
  put(root, `${doc}/sbom.cdx.json`, billOfMaterials(version, shipped));
  put(root, `${doc}/changelog.gz`, gzipSync(changelog(name), { level: 9 }));
  // The folders are the same as in the project, so that links between documents work.
  for (const file of DOCUMENTS) put(root, `${doc}/${file}`, readFileSync(file));
  const files = installedIn(root);
  const kiB = files.reduce((sum, file) => sum + Math.ceil(statSync(join(root, file)).size / 1024), 0);
  const md5 = (file: string) => hash('md5', readFileSync(join(root, file)));
  const sums = files.filter(file => !file.startsWith('etc/')).map(file => `${md5(file)}  ${file}\n`);
  put(root, 'DEBIAN/control', control(about, kiB));
  put(root, 'DEBIAN/md5sums', sums.join(''));
  for (const file of readdirSync(scripts)) {
    const mode = file === 'triggers' ? 0o644 : 0o755;
    put(root, `DEBIAN/${file}`, readFileSync(join(scripts, file)), mode);
  }
}

/** The files of the package without those for dpkg. */
function installedIn(root: string): string[] {
  return filesIn(root).filter(path => !path.startsWith('DEBIAN/'));
}

/** Builds a package from what `layOutIn` writes and returns. */
async function makePackage(
  name: string,
  architecture: string,
  majors: readonly NodeMajor[],
  layOutIn: (root: string, workFolder: string) => Promise<Contents>,
) {
  await withFolder('package', async workFolder => {
    const root = join(workFolder, 'root');
    mkdirSync(root, { mode: 0o755 });
    const contents = await layOutIn(root, workFolder);
    finish(root, { ...contents, name, architecture, majors });
    const file = `${name}_${version}_${architecture}.deb`;
    execFileSync('dpkg-deb', ['-Zxz', '--root-owner-group', '--build', root, file], {
      env: { ...process.env, SOURCE_DATE_EPOCH: epoch() },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    console.log(`${file}: ${installedIn(root).length} files, ${Math.round(statSync(file).size / 1024)} KiB`);
  });
}

function makeRobotPackage(architecture: Architecture, majors: readonly NodeMajor[]): Promise<void> {
  return makePackage('trunnion', architecture, majors, async (root, workFolder) => {
    const home = join(root, HOME);
    progress(`${architecture}: bundling the daemon`);
    const bundle = await bundleDaemon(natives, home);
    const binaries = majors.flatMap(major => {
      progress(`${architecture}: compiling the addons for Node ${major}`);
      return buildAddons(bundle.addons, { architecture, major }, home, workFolder);
    });
    progress(`${architecture}: packing`);
    const manifest = manifestOf('trunnion', majors);
    put(root, `${HOME}/package.json`, `${JSON.stringify(manifest)}\n`);
    // An upgrade replaces this file before the programs. The manifest of 0.1.0 has another type.
    put(root, `${HOME}/dist/package.json`, `${JSON.stringify({ type: manifest.type })}\n`);
    layOutSystem(root);
    put(root, 'DEBIAN/conffiles', '/etc/trunnion/config.yaml\n');
    return {
      shipped: shippedIn(bundle.packages),
      depends: ['udev', ...libraryDependencies(binaries, architecture)],
      description: `daemon of a competition robot, with a simulator beside it
 Serves the robot's HTTP interface, drives the laser through a GPIO pin and the
 motor controllers of gimbal and chassis through I2C, and keeps their gains
 through power cuts. trunnion-sim is the same daemon on a simulated robot.
`,
      scripts: 'systemd/debian',
    };
  });
}

/** The desk's package runs on every architecture, because it has no addon. */
function makeDeskPackage(majors: readonly NodeMajor[]): Promise<void> {
  return makePackage('trunnion-desk', 'all', majors, async root => {
    const shipped = await layOutDesk(root, manifestOf('trunnion-desk', majors));
    return { shipped, depends: [], description: DESK_DESCRIPTION, scripts: 'systemd/debian-desk' };
  });
}

/** Returns the addons that `require` can load. Adds the reasons for the others to `missing`. */
function available<One>(all: readonly One[], require: (one: One) => void, missing: string[]): One[] {
  return all.filter(one => {
    try {
      require(one);
      return true;
    } catch (error) {
      missing.push(messageOf(error));
      return false;
    }
  });
}

process.umask(0o022);
await script(async () => {
  completePackages(natives);
  requireProgram('dpkg-deb', 'dpkg');
  const missing: string[] = [];
  const architectures = available(asked.length > 0 ? asked : ALL, requireCompiler, missing);
  const majors = architectures.length > 0 ? available(askedMajors, nodeRelease, missing) : [];
  if (majors.length > 0) {
    for (const architecture of architectures) await makeRobotPackage(architecture, majors);
    await makeDeskPackage(majors);
  }
  for (const reason of missing) console.error(`left out: ${reason}`);
  const isLess = architectures.length < asked.length || (values.node && majors.length < askedMajors.length);
  process.exitCode = majors.length === 0 || isLess ? 1 : 0;
});
