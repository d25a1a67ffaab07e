'use strict';
/**
 * with-code-cache.cjs PROGRAM …: runs a program with the code that V8 compiled of it before, so that its start does not
 * compile it. With --make it writes that code beside the program, as PROGRAM.cache, and runs nothing. A code cache that is
 * missing, damaged, or of another text or Node is not used: the start takes longer, nothing else. The program is in
 * CommonJS, without any import().
 */
const { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

const CHECKSUM_BYTES = 4;

const cacheFile = program => `${program}.cache`;

/** `cachedDataRejected` of the script that this returns is false where the code cache is in use. */
function compile(program) {
  const source = readFileSync(program);
  return scriptOf(program, source, readCode(program, source));
}

function scriptOf(program, source, cachedData) {
  // on one line, so that the lines in stack traces are those of the program
  const text = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  return new vm.Script(text, { filename: program, cachedData });
}

function make(program) {
  const source = readFileSync(program);
  // The code of a function is in the cache if it is compiled already, and usually that waits for its first call.
  v8.setFlagsFromString('--no-lazy');
  const script = scriptOf(program, source);
  // V8 takes the cache only under the flags that stood when it was made.
  v8.setFlagsFromString('--lazy');
  const code = script.createCachedData();
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(checksumOf(source, code));
  put(cacheFile(program), Buffer.concat([checksum, code]));
}

/** Whole or not at all: a full disk keeps no part of it. */
function put(file, bytes) {
  const made = `${file}.new`;
  try {
    writeFileSync(made, bytes, { flush: true });
    // whatever root's umask is: the daemon is not root
    chmodSync(made, 0o644);
    renameSync(made, file);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
}

function readCode(program, source) {
  try {
    const file = readFileSync(cacheFile(program));
    const code = file.subarray(CHECKSUM_BYTES);
    return file.readUInt32LE() === checksumOf(source, code) ? code : undefined;
  } catch {
    // missing, too short, or not readable: a program starts without it
    return undefined;
  }
}

/**
 * Of the code, the text that it was made of, and the Node that made it. V8 itself looks at its version and flags, but of
 * the text only at its length, and a wrong bit in the code would end the process. Distributions mend Node without giving
 * it another version.
 */
function checksumOf(source, code) {
  const { size, mtimeMs } = statSync(process.execPath);
  return crc32(code, crc32(source, crc32(`${process.version} ${process.arch} ${size} ${mtimeMs}`)));
}

function run(program) {
  process.argv.splice(1, 1);
  const module = { exports: {} };
  const main = compile(program).runInThisContext();
  main.call(module.exports, module.exports, createRequire(program), module, program, dirname(program));
}

module.exports = { compile };

if (require.main === module) {
  const [, , first, ...rest] = process.argv;
  if (first === '--make') rest.forEach(make);
  else run(first);
}
