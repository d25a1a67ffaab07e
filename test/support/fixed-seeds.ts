import { configureGlobal } from 'fast-check';

/** Property tests use the same values in every run. A failure is then caused by a change, and not by the seed. */
configureGlobal({ seed: 1 });
