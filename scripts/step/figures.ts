import { defaultFigures } from '../../sim/trials/default-figures.js';

process.stdout.write(defaultFigures());
