import { expect } from 'chai';
import * as fc from 'fast-check';
import { ACTS, FakeField, NAMES, type Network, playedMatch } from './fake-field.js';

/** An act on the field, with its name for the message of a failing test. */
type NamedAct = readonly [name: string, act: (field: FakeField) => void];

const names = fc.constantFrom(...NAMES);
const isAct = (name: string): name is keyof typeof ACTS => name in ACTS;
const pressed = fc.constantFrom(...Object.keys(ACTS).filter(isAct));

/** An act with the values of an arbitrary. The weight says how often it is chosen. */
const act = <T>(weight: number, values: fc.Arbitrary<T>, named: (value: T) => NamedAct) => ({
  weight,
  arbitrary: values.map(named),
});

const acts = fc.oneof(
  act(8, fc.tuple(pressed, names, fc.constantFrom(0, 0, 300, 900)), ([what, robot, lateMs]) => [
    `press ${what} ${robot}, read ${lateMs} ms later`,
    field => field.first.tryPress(what, { robot, lateMs }),
  ]),
  act(3, fc.constantFrom('load', 'start', 'unlock'), what => [
    `press ${what}`,
    field => field.first.tryPress(what),
  ]),
  act(8, fc.constantFrom(50, 300, 900, 1500, 4000), ms => [`wait ${ms}`, field => field.wait(ms)]),
  act(
    4,
    fc.record({
      name: names,
      requestMs: fc.constantFrom(5, 200, 900, 1100, 3000, 8000),
      answerMs: fc.constantFrom(5, 3000),
      loses: fc.constantFrom<Network['loses'][]>('nothing', 'nothing', 'requests', 'answers'),
    }),
    ({ name, ...network }) => [
      `network ${JSON.stringify(network)} ${name}`,
      field => field.network(name, network),
    ],
  ),
  act(3, names, name => [`good network ${name}`, field => field.network(name)]),
  act(2, fc.tuple(names, fc.boolean()), ([name, isReboot]) => [
    `restart ${name} ${isReboot}`,
    field => field.robot(name).restart(isReboot),
  ]),
  act(1, names, name => [`locked by others ${name}`, field => field.robot(name).lockByOthers()]),
  act(2, names, name => [`unlocked on the board ${name}`, field => field.robot(name).match.unlock()]),
  act(2, fc.constant('kill the desk'), name => [name, field => field.first.restart()]),
  act(1, fc.constant('lose the state'), name => [name, field => field.first.lose()]),
  act(2, pressed, what => [
    `second desk ${what}`,
    field => {
      field.second.switchOn(400);
      field.second.tryPress(what);
    },
  ]),
);

/** Makes the next press likely to find what it needs: a loaded match, or a confirmed lock. */
const prepared: fc.Arbitrary<NamedAct> = fc.constantFrom('pre', 'play', 'lock').map(to => [
  `prepare ${to}`,
  field => {
    for (const name of NAMES) {
      field.network(name);
      field.robot(name).match.unlock();
    }
    for (const what of ['unlock', 'end', 'take over', 'end', 'load'] as const) {
      field.first.tryPress(what);
      field.wait(700);
    }
    if (to === 'play') field.first.tryPress('start');
    if (to === 'lock') field.first.tryPress('lock all');
    field.wait(600);
  },
]);

const BEFORE: Readonly<Record<string, keyof typeof ACTS>> = {
  unlock: 'lock all',
  'unlock one': 'lock one',
  'go on': 'pause',
  release: 'end',
};

/** A press that permits something, while the network holds requests to one robot back. */
const heldBack: fc.Arbitrary<NamedAct> = fc
  .tuple(
    fc.constantFrom('start', 'unlock', 'pause', 'go on', 'release', 'lock all', 'unlock one', 'lock one'),
    names,
    fc.constantFrom(300, 900, 1100, 3000),
    fc.constantFrom(100, 1300),
    fc.constantFrom(undefined, 'lock all', 'pause', 'lock one', 'end'),
    fc.constantFrom(0, 0, 600),
  )
  .map(([what, robot, requestMs, waitMs, next, lateMs]) => [
    `${what} read after ${lateMs} ms, held back for ${requestMs} ms on the way to ${robot}, then ${next}`,
    field => {
      const before = BEFORE[what];
      if (before !== undefined) field.first.tryPress(before, { robot });
      field.wait(400);
      field.network(robot, { requestMs });
      field.first.tryPress(what, { robot, lateMs });
      field.wait(waitMs);
      field.network(robot);
      if (next !== undefined) field.first.tryPress(next, { robot });
      field.wait(500);
    },
  ]);

describe('under random presses and faults, a referee desk', () => {
  it('starts, unlocks or releases no robot more than 1 s after the press or planned time, forgets no lock, and can play a match afterwards', function () {
    this.timeout(120_000);
    void fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            { weight: 4, arbitrary: acts },
            { weight: 1, arbitrary: prepared },
            { weight: 2, arbitrary: heldBack },
          ),
          { maxLength: 30 },
        ),
        history => {
          const told = history.map(([name]) => name).join('\n');
          const field = new FakeField();
          field.wait(300);
          for (const [, act] of history) {
            act(field);
            expect(field.unproven).to.deep.equal([]);
          }
          expect(field.late, told).to.deep.equal([]);
          // The second desk ends, the network gets well, and everything that is under way arrives.
          field.second.isOff = true;
          for (const name of NAMES) field.network(name);
          field.wait(12_000);
          expect(field.late, told).to.deep.equal([]);
          expect(field.forgotten).to.deep.equal([]);
          const phases = ['auto', 'pause', 'auto', 'teleop', 'ended', 'none'];
          expect(playedMatch(field), told).to.deep.equal(phases.map(one => `${one} ${one} ${one}`));
        },
      ),
      { numRuns: 150 },
    );
  });
});
