import { stringify } from 'yaml';
import { SETTINGS } from './settings.js';

/** The configuration file as it is installed: every setting with its default, commented out. */
export function defaultConfig(): string {
  const sections = Object.entries(SETTINGS).map(([section, settings]) => {
    const settingsText = Object.entries(settings).map(([key, setting]) => {
      const lines = [setting.doc, ...assignment(key, setting.default)];
      return `${lines.map(line => `  # ${line}\n`).join('')}`;
    });
    return `${section}:\n${settingsText.join('\n')}`;
  });
  const head = '# Configuration of Trunnion. A line without its # takes effect at the next start.\n';
  return `${head}\n${sections.join('\n')}`;
}

/**
 * The lines that show a setting with its default: one line, or one for each row of a table of tables. A setting without
 * a default of its own is left out.
 */
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
