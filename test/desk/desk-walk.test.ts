import { expect } from 'chai';
import * as fc from 'fast-check';
import { ACTS, FakeField, NAMES, playedMatch } from './fake-field.js';

type FieldAct = (field: FakeField) => void;

const names = fc.constantFrom(...NAMES);
const isAct = (name: string): name is keyof typeof ACTS => name in ACTS;
const pressed = fc.constantFrom(...Object.keys(ACTS).filter(isAct));

const acts: fc.Arbitrary<[string, FieldAct]> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(pressed, names, fc.constantFrom(0, 0, 300, 900))
      .map(([what, robot, lateMs]): [string, FieldAct] => [
        `press ${what} ${robot}, read ${lateMs} ms later`,
        field => field.first.tryPress(what, { robot, lateMs }),
      ]),
  },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('load', 'start', 'unlock')
      .map((what): [string, FieldAct] => [`press ${what}`, field => field.first.tryPress(what)]),
  },
  {
    weight: 8,
    arbitrary: fc
      .constantFrom(50, 300, 900, 1500, 4000)
      .map((ms): [string, FieldAct] => [`wait ${ms}`, field => field.wait(ms)]),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({
        name: names,
        requestMs: fc.constantFrom(5, 200, 900, 1100, 3000, 8000),
        answerMs: fc.constantFrom(5, 3000),
        loses: fc.constantFrom(
          'nothing' as const,
          'nothing' as const,
          'requests' as const,
          'answers' as const,
        ),
      })
      .map(({ name, ...network }): [string, FieldAct] => [
        `network ${JSON.stringify(network)} ${name}`,
        field => field.network(name, network),
      ]),
  },
  {
    weight: 3,
    arbitrary: names.map((name): [string, FieldAct] => [
      `good network ${name}`,
      field => field.network(name),
    ]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(names, fc.boolean())
      .map(([name, isReboot]): [string, FieldAct] => [
        `restart ${name} ${isReboot}`,
        field => field.robot(name).restart(isReboot),
      ]),
  },
  {
    weight: 1,
    arbitrary: names.map((name): [string, FieldAct] => [
      `locked by others ${name}`,
      field => field.robot(name).lockByOthers(),
    ]),
  },
  {
    weight: 2,
    arbitrary: names.map((name): [string, FieldAct] => [
      `unlocked on the board ${name}`,
      field => field.robot(name).match.unlock(),
    ]),
  },
  {
    weight: 2,
    arbitrary: fc.constant<[string, FieldAct]>(['kill the desk', field => field.first.restart()]),
  },
  { weight: 1, arbitrary: fc.constant<[string, FieldAct]>(['lose the state', field => field.first.lose()]) },
  {
    weight: 2,
    arbitrary: pressed.map((what): [string, FieldAct] => [
      `second desk ${what}`,
      field => {
        field.second.switchOn(400);
        field.second.tryPress(what);
      },
    ]),
  },
);

/** Makes the next press likely to find what it needs: a loaded match, or a confirmed lock. */
const prepared: fc.Arbitrary<[string, FieldAct]> = fc.constantFrom('pre', 'play', 'lock').map(to => [
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
const heldBack: fc.Arbitrary<[string, FieldAct]> = fc
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
          const field = new FakeField();
          field.wait(300);
          for (const [, act] of history) {
            act(field);
            expect(field.unproven).to.deep.equal([]);
          }
          expect(field.late, history.map(([name]) => name).join('\n')).to.deep.equal([]);
          // The second desk ends, the network gets well, and everything that is under way arrives.
          field.second.isOff = true;
          for (const name of NAMES) field.network(name);
          field.wait(12_000);
          expect(field.late, history.map(([name]) => name).join('\n')).to.deep.equal([]);
          expect(field.forgotten).to.deep.equal([]);
          expect(playedMatch(field), history.map(([name]) => name).join('\n')).to.deep.equal(
            ['auto', 'pause', 'auto', 'teleop', 'ended', 'none'].map(phase =>
              NAMES.map(() => phase).join(' '),
            ),
          );
        },
      ),
      { numRuns: 150 },
    );
  });
});
