import { stringify } from 'yaml';
import { SETTINGS } from './settings.js';

/** The configuration file as it is installed: every setting with its default, commented out. */
export function defaultConfig(): string {
  const sections = Object.entries(SETTINGS).map(([section, settings]) => {
    const lines = Object.entries(settings).map(([key, setting]) => {
      const value = stringify(setting.default === '' ? null : setting.default, {
        collectionStyle: 'flow',
      }).trim();
      return `  # ${setting.doc}\n  # ${key}:${setting.default === '' ? '' : ` ${value}`}\n`;
    });
    return `${section}:\n${lines.join('\n')}`;
  });
  const head = '# Configuration of Trunnion. A line without its # takes effect at the next start.\n';
  return `${head}\n${sections.join('\n')}`;
}
