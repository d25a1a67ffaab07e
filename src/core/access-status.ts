import { growing, named, oneOf, type TypeOf, text, yesNo } from './schema.js';

/** What status says of access: whether tokens are asked for, and what is wrong with their file. */
export const accessStatus = named(
  'AccessStatus',
  growing(
    {
      state: oneOf(
        ['open', 'closed', 'unavailable'],
        '`open`: everyone may do everything. `closed`: a token says who may do what. `unavailable`: the tokens cannot ' +
          'be read, and nobody may act.',
      ),
      exposed: yesNo('Open, and reachable from other machines.'),
    },
    { detail: text('What is wrong, and the cure.') },
  ),
);

export type AccessStatus = TypeOf<typeof accessStatus>;
