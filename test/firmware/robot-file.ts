import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The default robot with other values. A value that is null is not defined. */
export type OtherValues = Readonly<Record<string, string | null>>;

/** Compiles the images for that robot to a new folder. Throws if the values are refused. */
export function imagesFor(
  values: OtherValues,
  folder = mkdtempSync(join(tmpdir(), 'trunnion-images-')),
): string {
  const lines = readFileSync('firmware/pico/robot.h', 'utf8').split('\n');
  const changed = lines.map(line => {
    const name = /^#define (\w+) /.exec(line)?.[1] ?? '';
    return name in values ? (values[name] === null ? '' : `#define ${name} ${values[name]}`) : line;
  });
  const robot = join(folder, 'robot.h');
  writeFileSync(robot, changed.join('\n'));
  execFileSync('scripts/firmware/image', ['--robot', robot, '--out', folder], { stdio: 'pipe' });
  return folder;
}
