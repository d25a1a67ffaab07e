import { stringify } from 'yaml';
import { SETTINGS } from '../../src/config/settings.js';

/** The installed configuration file: every setting with its default, commented out. */
export function defaultConfig(): string {
  const sections = Object.entries(SETTINGS).map(([section, settings]) => {
    const settingsText = Object.entries(settings).map(([key, setting]) => {
      const lines = [setting.doc, ...assignment(key, setting.default)];
      return `${lines.map(line => `  # ${line}\n`).join('')}`;
    });
    return `${section}:\n${settingsText.join('\n')}`;
  });
  const head =
    '# Configuration of Trunnion. To change a setting, remove the # of its line. Changes take effect at the next start.\n';
  return `${head}\n${sections.join('\n')}`;
}

/** The lines of one setting with its default. A nested table gets one line for each row. */
function assignment(key: string, value: unknown): string[] {
  if (value === '') return [`${key}:`];
  const rows = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (rows.length > 0 && rows.every(([, row]) => typeof row === 'object'))
    return [`${key}:`, ...rows.map(([name, row]) => `  ${name}: ${inFlow(row)}`)];
  return [`${key}: ${inFlow(value)}`];
}

function inFlow(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', aliasDuplicateObjects: false, lineWidth: 0 }).trim();
}
