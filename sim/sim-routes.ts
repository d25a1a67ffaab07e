import { get, post, type Route } from '../src/http/route.js';
import { FAULT_BODY } from './bus/faults.js';
import type { SimulatedRobot } from './simulated-robot.js';

/** The routes that only a simulated robot can answer. */
export function simRoutes(robot: SimulatedRobot): Route[] {
  return [
    get('/sim/state', 'read', {
      id: 'simState',
      summary: 'The truth',
      answer: { type: 'object' },
      act: () => robot.truth(),
    }),
    post('/sim/faults', 'drive', {
      id: 'simFaults',
      summary: 'Make something fail, or well again',
      body: FAULT_BODY,
      answer: FAULT_BODY,
      act: ({ body: fault }) => {
        robot.inject(fault);
        return fault;
      },
    }),
  ];
}
