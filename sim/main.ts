#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from '../src/command/command.js';
import { conformanceProgram, simProgram } from './sim-program.js';

const args = process.argv.slice(2);
const isCheckout = ['start', 'dev'].includes(process.env.npm_lifecycle_event ?? '');
const name = isCheckout ? 'npm start --' : 'trunnion-sim';

const dist = join(dirname(realpathSync(process.argv[1] ?? '.')), '..');
const coreFile = existsSync(join(dist, '../scripts/firmware/core'))
  ? join(dist, 'firmware/core.wasm')
  : undefined;

// There is no await here: the package has this file as CommonJS, which has no top-level await.
void runProgram(args[0] === 'conformance' ? conformanceProgram(name) : simProgram({ name, coreFile }), args);
