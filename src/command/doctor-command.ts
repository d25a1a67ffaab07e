import { boardOf } from '../access/board.js';
import { runDoctor, toText } from '../doctor/doctor.js';
import { linuxSystem } from '../doctor/linux-system.js';
import type { Said } from './command.js';
import { configOrDefaults, type PlaceOptions, placeOf } from './place.js';

/** `trunnion doctor`. */
export async function doctorCommand(asked: PlaceOptions): Promise<Said> {
  const { isSimulated, socket } = placeOf(asked);
  // A simulated robot often listens on another port than the usual one, so the running simulator is asked for
  // its port.
  const board = isSimulated ? boardOf(await linuxSystem.boardStatus(socket)) : undefined;
  const known = configOrDefaults({ host: board?.host, port: board?.port.toString(), ...asked });
  const simulatedAt = isSimulated ? socket : undefined;
  const findings = await runDoctor({ system: linuxSystem, simulatedAt, ...known });
  const exitCode = findings.some(({ state }) => state === 'wrong') ? 1 : 0;
  const colours = { fine: 'green', wrong: 'red', unknown: 'yellow' } as const;
  const json = findings.map(finding => ({ ok: finding.state !== 'wrong', ...finding }));
  return { text: toText(findings), exitCode, json, isReport: true, colours };
}
