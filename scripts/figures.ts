import { defaultFigures } from '../sim/default-figures.js';

process.stdout.write(defaultFigures());
