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

/** Compiles the core with a change in one of its files: `FILE: BEFORE → AFTER`. Throws if the file lacks the text BEFORE. */
export function changedCore(change: string): WebAssembly.Module {
  const [, file = '', before = '', after = ''] = /^(\S+): (.*) → (.*)$/.exec(change) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'changed-core-'));
  try {
    cpSync('firmware/core', folder, { recursive: true });
    const source = readFileSync(join(folder, file), 'utf8');
    if (!source.includes(before)) throw new Error(`${file} has no "${before}"`);
    writeFileSync(join(folder, file), source.replace(before, after));
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
