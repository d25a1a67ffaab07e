import * as s from '../schemas/schema.js';
import { TOKEN } from './desk-file.js';
import { button, ofRobot, refuse, requireRobot } from './press.js';
import { changeWish, type DeskState, type Robot, seenOf, wishOf } from './state.js';

/** A robot of the loaded match stays in the field until the match is over. */
function requireNoMatch({ wanted: { match } }: DeskState, name: string): void {
  if (match?.robots.includes(name) === true && !['none', 'ended'].includes(match.phase))
    refuse(`The match ${match.id} is in ${match.phase}. End it first.`);
}

const placed = { ...ofRobot, place: s.oneOf(['field', 'pit']) };

export const placeRobot = button(placed, (state, _, { robot, place }) => {
  requireRobot(state, robot);
  if (place === 'pit') requireNoMatch(state, robot);
  changeWish(state, robot, { place });
});

export const acceptRobot = button({ ...ofRobot, id: s.text() }, (state, _, { robot, id }) => {
  requireRobot(state, robot);
  const seen = seenOf(state, robot);
  if (seen.shownId !== id) refuse('This id does not answer at the address.');
  if (wishOf(state.wanted, robot).id === id) refuse('The robot has this id already.');
  changeWish(state, robot, { id, head: null, logFault: null });
  seen.isFromOldest = false;
});

export const addRobot = button({ name: s.name(40), link: s.text() }, (state, _, { name, link }) => {
  if (state.robots.some(robot => robot.name === name)) refuse(`There is a robot called ${name}.`);
  const robot = robotOf(name, link);
  if (robot === undefined) refuse('This is not the link that token add prints: http://ADDRESS/#token=TOKEN.');
  state.wanted = { ...state.wanted, added: [...state.wanted.added, robot] };
  state.robots = [...state.robots, robot];
});

const LINK_TOKEN = new RegExp(`^#(?:[^&]*&)*token=(${TOKEN})(?:&|$)`);

/** The robot of a link that `trunnion token add` prints. Undefined if the text is no such link. */
function robotOf(name: string, link: string): Robot | undefined {
  const text = link.trim();
  if (!URL.canParse(text)) return undefined;
  const { protocol, origin, hash } = new URL(text);
  const [, token] = LINK_TOKEN.exec(hash) ?? [];
  return protocol === 'http:' && token !== undefined ? { name, address: origin, token } : undefined;
}

export const removeRobot = button(ofRobot, (state, _, { robot: name }) => {
  const { wanted } = state;
  if (!wanted.added.some(robot => robot.name === name))
    refuse(`${name} is not a robot that was added here. Edit FILE.`);
  requireNoMatch(state, name);
  const { [name]: _wish, ...robots } = wanted.robots;
  state.wanted = { ...wanted, robots, added: wanted.added.filter(robot => robot.name !== name) };
  state.robots = state.robots.filter(robot => robot.name !== name);
  state.seen.delete(name);
});
