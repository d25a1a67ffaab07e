import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RobotError } from '../core/errors.js';

/** The labels of the chip with the header's pins: on a Pi 5, on a Pi 4, and on earlier boards. */
const LABELS: readonly string[] = ['pinctrl-rp1', 'pinctrl-bcm2711', 'pinctrl-bcm2835'];

export interface GpioChip {
  readonly label: string;
  /** The sysfs number of BCM 0, which differs from board to board and from kernel to kernel. */
  readonly base: number;
  readonly lines: number;
}

export function pinError(missing: string, cure: string, cause?: unknown): RobotError<'pin-failed'> {
  return new RobotError('pin-failed', { missing, cure }, { cause });
}

/** Finds the chip with the header's pins. Throws `pin-failed` unless there is exactly one. */
export async function headerChip(root: string): Promise<GpioChip> {
  const chips = await chipsIn(root);
  const [chip, ...more] = chips.filter(({ label }) => LABELS.includes(label));
  const seen = chips.map(({ label, base }) => `${label} at ${base}`).join(', ') || 'none at all';
  if (chip === undefined)
    throw pinError(
      `No GPIO chip of a Raspberry Pi in ${root}; there is: ${seen}`,
      'Run it on a Raspberry Pi.',
    );
  if (more.length > 0)
    throw pinError(
      `More than one GPIO chip looks like the Pi's: ${seen}`,
      'Remove the overlay or module that brings the other one: no pin is driven on a guess.',
    );
  return chip;
}

/** The sysfs number of a pin of the header's chip. */
export function lineNumber(chip: GpioChip, bcm: number): number {
  if (bcm < chip.lines) return chip.base + bcm;
  const missing = `${chip.label} has no BCM ${bcm}, only 0 to ${chip.lines - 1}`;
  throw pinError(missing, 'Configure a pin that it has.');
}

async function chipsIn(root: string): Promise<GpioChip[]> {
  const names = await readdir(root).catch((error: unknown) => {
    const cure = 'Use a kernel with CONFIG_GPIO_SYSFS, such as those of Raspberry Pi OS.';
    throw pinError(`There is no ${root}`, cure, error);
  });
  const chips = names.filter(name => name.startsWith('gpiochip')).sort();
  return Promise.all(
    chips.map(async name => ({
      label: await textOf(join(root, name, 'label')),
      base: Number(await textOf(join(root, name, 'base'))),
      lines: Number(await textOf(join(root, name, 'ngpio'))),
    })),
  );
}

async function textOf(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw pinError(`Cannot read ${file}`, 'Mount /sys, and let the daemon read it.', error);
  });
  return text.trim();
}
