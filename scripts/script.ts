import { spawnSync } from 'node:child_process';

/** Runs the work of a script. Its failure is one line for the person at the terminal: what went wrong, and the cure. */
export async function script(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [line] = (error instanceof Error ? error.message : String(error)).split('\n');
    console.error(line);
    process.exitCode = 1;
  }
}

/** Throws where a program is missing that this package of Debian brings. */
export function requireProgram(program: string, debianPackage: string): void {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return;
  throw new Error(`no ${program}: apt install ${debianPackage}`);
}
