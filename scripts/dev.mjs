/** scripts/dev: Node restarts this file when a source changes. */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('scripts/build', ['--if-changed'], { stdio: 'inherit' });
if (status === 0) await import('../dist/sim/main.js');
else process.exitCode = 1;
