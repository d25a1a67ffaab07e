import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreModule } from '../../sim/core/core-robot.js';
import type { Controller } from '../../sim/firmware/simulated-controller.js';
import { decodeFrame } from '../../src/protocol/codec.js';
import { type FieldValues, frameBytes, type Register } from '../../src/protocol/registers.js';

/** The core that scripts/firmware/core compiled. */
export const core = coreModule('dist/firmware/core.wasm');

/**
 * Compiles the core with a change in one of its files: `FILE: BEFORE → AFTER`, or in one of its functions: `FILE FUNCTION:
 * BEFORE → AFTER`. Throws if the text BEFORE is not there.
 */
export function changedCore(change: string): WebAssembly.Module {
  const [, file = '', name = '', before = '', after = ''] =
    /^(\S+)(?: (\w+))?: (.*) → (.*)$/.exec(change) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'changed-core-'));
  try {
    cpSync('firmware/core', folder, { recursive: true });
    const source = readFileSync(join(folder, file), 'utf8');
    const at = name === '' ? 0 : source.indexOf(` ${name}(`);
    if (at < 0 || !source.slice(at).includes(before)) throw new Error(`${file} ${name} has no "${before}"`);
    const changed = source.slice(0, at) + source.slice(at).replace(before, after);
    writeFileSync(join(folder, file), changed);
    execFileSync('scripts/firmware/core', [folder, join(folder, 'core.wasm')]);
    return coreModule(join(folder, 'core.wasm'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The values that a register of the controller shows. */
export function shown<R extends Register>(controller: Controller, register: R): FieldValues<R> {
  return decodeFrame(
    controller.unit.address,
    register,
    controller.read(register.address, frameBytes(register)),
  );
}
