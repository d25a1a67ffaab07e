import { existsSync } from 'node:fs';
import { simulatorSocket } from '../src/access/root-socket.js';
import type { Options } from '../src/command/arguments.js';
import { type Command, command, type Program } from '../src/command/command.js';
import { conformanceCommand } from '../src/command/conformance-command.js';
import { JSON_OPTION } from '../src/command/output.js';
import { configOf, SIMULATOR } from '../src/command/place.js';
import { serveOptions } from '../src/command/serve-command.js';
import { loadConfig } from '../src/config/config.js';
import { badConfig } from '../src/config/config-file.js';
import { systemClock } from '../src/core/clock.js';
import { UNIT_LIST, type Unit } from '../src/core/units.js';
import { serveRobot } from '../src/daemon/run.js';
import { coreModule, createCoreRobot } from './core/core-robot.js';
import { createPhysics } from './robot-physics.js';
import { simRoutes } from './sim-routes.js';
import { SimulatedRobot } from './simulated-robot.js';

interface Place {
  /** The program as a person types it. */
  readonly name: string;
  /** The C core, compiled by scripts/firmware/core. Undefined where nobody can compile it, as in the packages. */
  readonly coreFile?: string | undefined;
}

/** The program of the simulated robot. */
export function simProgram({ name, coreFile }: Place): Program {
  const controllers: Options = {
    controllers: {
      type: 'string',
      value: 'simulated|core',
      about: 'core runs the firmware of firmware/core',
      default: 'simulated',
    },
  };
  const serve = command(
    {
      command: 'serve',
      about: 'Serve a simulated robot: the same daemon, on fake buses with physics behind them',
      options: { ...serveOptions(SIMULATOR), ...(coreFile !== undefined && controllers) },
      examples: [
        [`${name} --port 0 --state "$(mktemp -d)"`, 'a new robot beside another one'],
        [`${name} --host 0.0.0.0`, 'a robot that a phone in the same network can reach'],
      ],
    },
    async ({ values }) => {
      const { controllers: chosen, ...asked }: Record<string, string | undefined> = values;
      const robot = simulatedRobot(chosen, coreFile);
      await serveRobot(
        {
          another: `${name} --port 0 --state "$(mktemp -d)"`,
          open: async ({ state }) => ({
            rootSocket: simulatorSocket(state.folder),
            hardware: robot.hardware,
            extraRoutes: simRoutes(robot),
          }),
        },
        configOf(SIMULATOR, asked),
      );
      return undefined;
    },
  );
  return {
    name,
    about: 'Trunnion on a simulated robot.',
    environment: [['XDG_STATE_HOME', 'where the state folder is, in place of ~/.local/state']],
    commands: [serve],
  };
}

/** `trunnion conformance --simulated`: checks the simulated firmware, on a robot that nobody else uses. */
export function conformanceProgram(name: string): Program {
  const shape = (unit: Unit) => {
    const about = `Check the simulated firmware of the ${unit.name} against docs/motor-protocol.md`;
    return { command: `conformance ${unit.name}`, about, options: JSON_OPTION };
  };
  const commands = UNIT_LIST.map(
    (unit): Command =>
      command(shape(unit), () => {
        const { bus, close } = simulatedRobot().hardware;
        const open = async () => ({
          readBlock: (...read: Parameters<typeof bus.readBlock>) => bus.readBlock(...read),
          writeBlock: (...write: Parameters<typeof bus.writeBlock>) => bus.writeBlock(...write),
          close,
        });
        return conformanceCommand(unit, open, loadConfig(undefined, {}, SIMULATOR), undefined);
      }),
  );
  return { name, about: 'Checks the simulated firmware.', commands };
}

/** Throws `bad-config`. */
function simulatedRobot(controllers = 'simulated', coreFile?: string): SimulatedRobot {
  const options = { seed: 1 };
  if (controllers === 'simulated')
    return new SimulatedRobot({ clock: systemClock, physics: createPhysics(options) });
  if (controllers !== 'core' || coreFile === undefined)
    throw badConfig(['--controllers takes simulated or core']);
  if (!existsSync(coreFile)) throw badConfig(['compile the core first: scripts/firmware/core']);
  return new SimulatedRobot({ clock: systemClock, ...createCoreRobot(coreModule(coreFile), options) });
}
