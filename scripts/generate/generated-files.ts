import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandTable, deskManPage, exitCodeTable, manPage, simManPage } from './command-tables.js';
import { defaultConfig } from './default-config.js';
import { defaultFigures } from './default-figures.js';
import { motorHeader } from './motor-header.js';
import { openApiDocument } from './openapi-document.js';
import { cameraExample, pinout, wiringTable } from './pinout.js';
import { problemTable } from './problem-table.js';
import { protocolTables } from './protocol-tables.js';

/** The correct text of every generated file, by its path below `root`. Some files are generated only in part. */
export async function generatedFiles(root: string): Promise<ReadonlyMap<string, string>> {
  const fill = (file: string, parts: Readonly<Record<string, string>>): [string, string] => [
    file,
    filled(
      readFileSync(join(root, file), 'utf8'),
      parts,
      file.endsWith('.md') ? ['<!--', '-->'] : ['/*', '*/'],
    ),
  ];
  return new Map([
    ['systemd/config.yaml', defaultConfig()],
    ['systemd/trunnion.1', manPage()],
    ['systemd/trunnion-sim.1', simManPage()],
    ['systemd/trunnion-desk.1', deskManPage()],
    ['docs/openapi.json', await openApiDocument()],
    fill('docs/motor_registers.h', { registers: motorHeader() }),
    fill('docs/motor-protocol.md', protocolTables()),
    fill('docs/firmware.md', { wiring: wiringTable(), camera: cameraExample() }),
    ['docs/pictures/pico.svg', pinout()],
    fill('docs/api.md', { problems: problemTable() }),
    fill('docs/install.md', { commands: commandTable(), 'exit codes': exitCodeTable() }),
    fill('docs/tuning.md', { 'default gains': defaultFigures() }),
  ]);
}

type Comment = readonly [open: string, close: string];

/** Replaces the text between the comments `generated: NAME` and `end: NAME`. */
function filled(text: string, parts: Readonly<Record<string, string>>, [open, close]: Comment): string {
  return Object.entries(parts).reduce((before, [name, part]) => {
    const [begin, end] = [`${open} generated: ${name} ${close}`, `${open} end: ${name} ${close}`];
    const from = before.indexOf(begin);
    const to = before.indexOf(end);
    if (from < 0 || to < from) throw new Error(`put back where it was: ${begin} … ${end}`);
    return `${before.slice(0, from)}${begin}\n\n${part}\n\n${before.slice(to)}`;
  }, text);
}
