import { writeFileSync } from 'node:fs';
import { type StepArguments, stepArguments, USAGE, UsageError } from './step-arguments.js';
import { stepChart } from './step-chart.js';
import { type StepResponse, stepResponse } from './step-response.js';

function refuse(message: string): never {
  console.error(`step: ${message}\nstep: --help says what can be given`);
  process.exit(2);
}

const SHOWN_DIGITS = 6;

function printed({ figures, diverged }: StepResponse): string {
  const rounded = (_name: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(SHOWN_DIGITS)) : value;
  return JSON.stringify({ ...figures, diverged }, rounded, 2);
}

function title({ trial: { gains, rateHz } }: StepArguments): string {
  if (gains === 'open-loop') return 'voltage step';
  return `kp ${gains.kp}, ki ${gains.ki}, kd ${gains.kd} at ${rateHz} Hz`;
}

function main(args: readonly string[]): void {
  const given = stepArguments(args);
  if (given === 'help') {
    console.log(USAGE);
    return;
  }
  const { trial, svgFile } = given;
  const response = stepResponse(trial);
  if (svgFile !== undefined) {
    const setpoint = trial.gains === 'open-loop' ? undefined : trial.size;
    const unit = trial.loop === 'position' ? 'rad' : 'rad/s';
    writeFileSync(svgFile, stepChart(response, title(given), unit, setpoint));
  }
  console.log(printed(response));
}

try {
  main(process.argv.slice(2));
} catch (error) {
  if (error instanceof UsageError || error instanceof RangeError) refuse(error.message);
  if (error instanceof Error && 'syscall' in error) refuse(`cannot write the picture: ${error.message}`);
  throw error;
}
