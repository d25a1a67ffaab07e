import { configProblem, loadConfig } from '../config/config.js';
import { done, type Said } from './command.js';
import { ROBOT } from './place.js';

/** `trunnion config check`: whether the daemon would start with this file. */
export function checkConfig(file: string): Said {
  try {
    loadConfig(file, {}, ROBOT);
    return done(`${file} is without a mistake.`);
  } catch (error) {
    const detail = configProblem(error);
    return { text: detail, exitCode: 1, json: { ok: false, detail, mistakes: detail.split('\n') } };
  }
}
