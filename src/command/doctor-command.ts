import { boardOf } from '../access/board.js';
import { configProblem } from '../config/config.js';
import { runDoctor, toText } from '../doctor/doctor.js';
import { linuxSystem } from '../doctor/linux-system.js';
import type { Said } from './command.js';
import { type Asked, configOf, homeOf, placeOf } from './place.js';

/** `trunnion doctor`. The exit code is 0 if nothing wrong was found. */
export async function doctorCommand(asked: Asked): Promise<Said> {
  const { isSimulated, socket } = placeOf(asked);
  // A simulated robot often listens on another port than the usual one, so the running simulator is asked for
  // its port.
  const board = isSimulated ? boardOf(await linuxSystem.boardStatus(socket)) : undefined;
  const known = configOrDefaults({ host: board?.host, port: board?.port.toString(), ...asked });
  const simulatedAt = isSimulated ? socket : undefined;
  const findings = await runDoctor({ system: linuxSystem, simulatedAt, ...known });
  const exitCode = findings.some(({ ok }) => ok === 'wrong') ? 1 : 0;
  const colours = { fine: 'green', wrong: 'red', unknown: 'yellow' } as const;
  return { text: toText(findings), exitCode, json: findings, isReport: true, colours };
}

/** The doctor must also run if the configuration has a mistake. */
function configOrDefaults(asked: Asked) {
  const home = homeOf(asked);
  try {
    return { config: configOf(home, asked) };
  } catch (error) {
    const config = configOf({ ...home, configFile: undefined }, { ...asked, config: undefined });
    return { config, configProblem: configProblem(error) };
  }
}
