#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { runProgram } from '../command/command.js';
import { deskProgram } from './desk-program.js';

// No top-level await: the package is CommonJS. A command line that begins with a file means `serve`.
const args = process.argv.slice(2);
const [first = ''] = args;
const names = [...deskProgram.commands.map(({ command }) => command.split(' ')[0]), 'help', 'version'];
const isFile = !first.startsWith('-') && !names.includes(first) && (/[./]/.test(first) || existsSync(first));
void runProgram(deskProgram, isFile ? ['serve', ...args] : args);
