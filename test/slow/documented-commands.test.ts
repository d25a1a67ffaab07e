import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { Child } from '../support/child.js';
import { call, suiteFolder } from '../support/daemon.js';
import { callsOf, commandsOf, notTyped, TYPED } from '../support/documented-calls.js';
import { requirePrograms } from '../support/programs.js';

/** These commands find something wrong with this machine or its robot, or are refused without a match. */
const MAY_FAIL = /trunnion (-- )?(doctor|status|match end)\b/;

/** Resolves with the exit code and the output of what a shell does with this line. */
function type(line: string, seconds: number, env: Readonly<Record<string, string>>) {
  return new Promise<{ code: number; output: string }>(resolve => {
    const options = { env: { ...process.env, ...env } };
    execFile('timeout', [`${seconds}`, 'sh', '-c', line], options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

/** The lines that were typed for an earlier document. */
const alreadyTyped = new Set<string>();

for (const document of TYPED)
  describe(`the commands in ${document}`, function () {
    this.timeout(300_000);
    let child: Child | undefined;
    let env: Record<string, string> = {};

    before(async function () {
      requirePrograms(this, 'curl', 'flock', 'python3', 'timeout');
      env = { XDG_STATE_HOME: folder(), PATH: `${join(folder(), 'bin')}:${process.env.PATH}` };
      await mkdir(join(folder(), 'bin'));
      const program = `#!/bin/sh\nexec node '${resolve('dist/src/main.js')}' "$@"\n`;
      await writeFile(join(folder(), 'bin/trunnion'), program, { mode: 0o755 });
      child = new Child('sim/main.js', ['--port', '0'], env);
      await child.url();
    });
    after(() => child?.kill());
    const folder = suiteFolder();

    it('succeed on a simulated robot (only `doctor`, `status` and `match end` may fail), and print no problem except “stopped”', async () => {
      const url = (await child?.url()) ?? '';
      const text = await readFile(document, 'utf8');
      const answered = callsOf(text).map(({ command }) => command);
      const commands = commandsOf(text).filter(one => !answered.includes(one) && !notTyped(one));
      const rehearsed = (command: string) => {
        const line = command
          .replace(/^sudo (?=trunnion)/, '')
          .replace('[FILE]', 'systemd/config.yaml')
          .replace(/ \[.*?\]/, '')
          .replace(/(\w+)(\\\|\w+)+/, '$1')
          .replace('COMMAND', 'status');
        return /^trunnion (?!config|completion|.*--(simulated|help|version))/.test(line)
          ? `${line} --simulated`
          : line;
      };
      const lines = new Set(commands.map(rehearsed).filter(line => !alreadyTyped.has(line)));
      for (const line of lines) alreadyTyped.add(line);
      if (commands.some(line => line.includes('token remove NAME')))
        await type('trunnion token add NAME --role operator --simulated', 20, env);
      let token = '';
      for (const line of lines) {
        const { body: head } = await call(url, 'GET', '/api/log/head', undefined, {
          authorization: `Bearer ${token}`,
        });
        const typed = line
          .replaceAll(/(localhost|ROBOT):8080/g, new URL(url).host)
          .replace('/var/lib/trunnion', join(folder(), 'trunnion-sim'))
          .replace('SEQ:HASH', `${head.seq}:${head.hash}`)
          .replace('…', token);
        const isLoop = line.startsWith('while ');
        const { code, output } = await type(typed, isLoop ? 5 : 30, { ...env, DESK: token });
        token = /^([a-z0-9]{4}-){7,}[a-z0-9]{4}$/m.exec(output)?.[0] ?? token;
        const allowed = MAY_FAIL.test(line) ? [0, 1, 3] : [isLoop ? 124 : 0];
        expect(code, `${typed}\n${output}`).to.be.oneOf(allowed);
        // The first token has stopped the robot.
        expect(output, typed).not.to.match(/urn:trunnion:problem:(?!stopped)|^\s+at .*:\d+/m);
        if (isLoop) expect(output, typed).to.match(/^(200\n)+$/);
      }
    });
  });
