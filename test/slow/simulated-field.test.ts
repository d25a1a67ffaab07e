import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { children } from '../support/child.js';
import { suiteFolder } from '../support/daemon.js';

/** The processes that this process has started, with their command lines. */
function childrenOf(pid: number | undefined): { pid: number; command: string }[] {
  const ids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return ids.map(id => ({ pid: Number(id), command: readFileSync(`/proc/${id}/cmdline`, 'utf8') }));
}

const runs = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a desk with simulated robots', () => {
  const start = children();
  const folder = suiteFolder();

  for (const hangs of [/src.desk.main/, /sim.main/])
    it(`that gets Ctrl-C twice ends all its programs, and removes the state of the robots, even if ${hangs} hangs`, async () => {
      const field = start('sim/field.js', ['--simulate', '2', '--port', '0'], { TMPDIR: folder() });
      await field.line(/listening on (http:[^"]+)/);
      const started = childrenOf(field.process.pid);
      const hanging = started.find(({ command }) => hangs.test(command));
      if (hanging === undefined) throw new Error(`no ${hangs} among ${started.length}`);
      process.kill(hanging.pid, 'SIGSTOP');
      field.process.kill('SIGINT');
      expect(await field.kill('SIGINT')).to.equal(0);
      expect(started.map(({ pid }) => runs(pid))).to.deep.equal([false, false, false]);
      expect(readdirSync(folder())).to.deep.equal([]);
    });
});
