import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An npm package whose code is in the Debian package. */
export interface Shipped {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Such as "node_modules/koa". */
  readonly folder: string;
}

/** The npm packages in these folders, sorted by name. The same version in two folders counts once. */
export function shippedIn(folders: readonly string[]): Shipped[] {
  const found = new Map<string, Shipped>();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    found.set(`${name}@${version}`, { name, version, license: String(license), folder });
  }
  return [...found.entries()].sort(([a], [b]) => a.localeCompare(b, 'en')).map(([, shipped]) => shipped);
}

const COPYRIGHT_LINE = /^.*\bcopyright\s+(\(c\)|©|\d).*$/gim;

/** Writes every licence text once, below the packages with that licence and their copyright lines. */
export function copyright(shipped: readonly Shipped[]): string {
  const licences = new Map<string, { readonly named: string[]; readonly words: string }>();
  for (const { name, version, license, folder } of shipped) {
    const file = readdirSync(folder).find(entry => /^(licen[cs]e|copying)/i.test(entry));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8');
    const holders = text.match(COPYRIGHT_LINE) ?? [];
    const words = text.replace(COPYRIGHT_LINE, '').trim();
    const key = words.replace(/\s+/g, ' ');
    const same = licences.get(key) ?? { named: [], words };
    licences.set(key, same);
    same.named.push([`${name} ${version}`, ...holders.map(line => `  ${line.trim()}`)].join('\n'));
  }
  const own = `Trunnion\n\n${readFileSync('LICENSE', 'utf8')}\nIt contains the npm packages below.\n`;
  const parts = [...licences.values()].map(({ named, words }) => `${named.join('\n')}\n\n${words}\n`);
  return [own, ...parts].join(`\n${'-'.repeat(78)}\n\n`);
}

/** Software bill of materials in CycloneDX 1.5. It has no date or serial number, so that the same commit makes the same bytes. */
export function billOfMaterials(version: string, shipped: readonly Shipped[]): string {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const component = ({ name, version, license, folder }: Shipped) => ({
    type: 'library',
    'bom-ref': `${name}@${version}`,
    name,
    version,
    hashes: [sha512Of(packages[folder].integrity)],
    licenses: [{ license: { id: license } }],
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  });
  const own = { type: 'application', 'bom-ref': 'trunnion', name: 'trunnion', version };
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...own, licenses: [{ license: { id: 'MIT' } }] } },
    components: shipped.map(component),
    dependencies: [{ ref: 'trunnion', dependsOn: shipped.map(({ name, version }) => `${name}@${version}`) }],
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** The hash of a package, from npm's form `sha512-BASE64`. */
function sha512Of(integrity: string): { alg: string; content: string } {
  const content = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
  return { alg: 'SHA-512', content };
}

/** Installs the sources of these packages. `npm ci` leaves out optional packages whose addons it cannot compile. */
export function completePackages(names: readonly string[]): void {
  if (names.every(name => existsSync(join('node_modules', name)))) return;
  execFileSync('npm', ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
