import { RobotTrial } from '../../sim/trials/robot-trial.js';

/** How many times faster than real time the whole robot is simulated on this machine, all seven loops at work. */

const SIMULATED_S = 60;
const RUNS = 7;

const robot = new RobotTrial({ seed: 1 });
robot.command('gimbal', { mode: 'auto' });
robot.command('chassis', { mode: 'auto' });
robot.run(SIMULATED_S);
const ratios = Array.from({ length: RUNS }, () => {
  const start = performance.now();
  robot.run(SIMULATED_S);
  return (1000 * SIMULATED_S) / (performance.now() - start);
}).sort((a, b) => a - b);
const median = ratios[Math.floor(RUNS / 2)] ?? 0;
const [least = 0] = ratios;
const most = ratios.at(-1) ?? 0;
console.log(
  `${median.toFixed(0)} times real time: the median of ${RUNS} runs of ${SIMULATED_S} s simulated ` +
    `(${least.toFixed(0)} to ${most.toFixed(0)}); one core in real time: ${(100 / median).toFixed(2)} %`,
);
