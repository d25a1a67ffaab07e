import { robotOf } from './link.js';
import { OVER, refuse, requireRobot } from './press.js';
import { changeWish, type DeskState, seenOf } from './state.js';

export function placeRobot(state: DeskState, name: string, place: 'field' | 'pit'): void {
  requireRobot(state, name);
  const { match } = state.wanted;
  if (place === 'pit' && match?.robots.includes(name) === true && !['none', 'ended'].includes(match.phase))
    refuse(`The match ${match.id} is in ${match.phase}. End it first.`);
  changeWish(state, name, { place });
}

export function acceptRobot(state: DeskState, name: string, id: string): void {
  requireRobot(state, name);
  const seen = seenOf(state, name);
  if (seen.shownId !== id) refuse('This id does not answer at the address.');
  changeWish(state, name, { id, head: null });
  seen.contradicts = undefined;
}

export function addRobot(state: DeskState, name: string, link: string): void {
  if (state.robots.some(robot => robot.name === name)) refuse(`There is a robot called ${name}.`);
  const robot = robotOf(name, link);
  if (robot === undefined) refuse('This is not the link that token add prints: http://ADDRESS/#token=TOKEN.');
  state.wanted = { ...state.wanted, added: [...state.wanted.added, robot] };
  state.robots = [...state.robots, robot];
}

export function removeRobot(state: DeskState, name: string): void {
  const { wanted } = state;
  if (!wanted.added.some(robot => robot.name === name))
    refuse(`${name} is not a robot that was added here. Edit FILE.`);
  if (wanted.match?.robots.includes(name) === true && !OVER.includes(wanted.match.phase))
    refuse('It plays. End the match first.');
  const { [name]: _, ...robots } = wanted.robots;
  state.wanted = { ...wanted, robots, added: wanted.added.filter(robot => robot.name !== name) };
  state.robots = state.robots.filter(robot => robot.name !== name);
  state.seen.delete(name);
}
