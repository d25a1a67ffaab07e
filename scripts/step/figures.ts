import { defaultFigures } from './default-figures.js';

process.stdout.write(defaultFigures());
