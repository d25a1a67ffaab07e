'use strict';
/**
 * with-code-cache.cjs PROGRAM …: runs a program with a code cache of V8, so that the start need not compile it. With
 * --make it only compiles, and writes PROGRAM.cache. If the cache is missing or damaged, or was made from another
 * text or by another Node, the program is compiled as usual. The program must be CommonJS without import().
 */
const { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

const CHECKSUM_BYTES = 4;

const cacheFile = program => `${program}.cache`;

/** Compiles the program. `cachedDataRejected` of the result is false if the code cache is in use. */
function compile(program) {
  const source = readFileSync(program);
  return scriptOf(program, source, readCode(program, source));
}

function scriptOf(program, source, cachedData) {
  // The wrapper adds no line, so that line numbers in stack traces stay right.
  const text = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  return new vm.Script(text, { filename: program, cachedData });
}

function make(program) {
  const source = readFileSync(program);
  // Usually V8 compiles a function at its first call. The cache holds only compiled functions.
  v8.setFlagsFromString('--no-lazy');
  const script = scriptOf(program, source);
  // V8 accepts the cache only under the flags with which it was made.
  v8.setFlagsFromString('--lazy');
  const code = script.createCachedData();
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(checksumOf(source, code));
  put(cacheFile(program), Buffer.concat([checksum, code]));
}

/** Writes the whole file or nothing, even on a full disk. */
function put(file, bytes) {
  const made = `${file}.new`;
  try {
    writeFileSync(made, bytes, { flush: true });
    // The daemon is not root, and must be able to read it whatever root's umask is.
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
    // The cache is missing, too short or unreadable. The program starts without it.
    return undefined;
  }
}

/**
 * Checksum over the code, its text, and the Node that made it. V8 checks its version and flags, but only the length of the
 * text, and a wrong bit in the code would crash the process. Distributions patch Node without changing its version.
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
