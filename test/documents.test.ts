import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { callsOf, commandsOf, notTyped, TYPED } from './support/documented-calls.js';

const DOCUMENTS = ['.', 'docs', 'docs/clients'].flatMap(folder =>
  readdirSync(folder)
    .filter(name => name.endsWith('.md'))
    .map(name => join(folder, name)),
);

/** The anchors that Markdown viewers make from the headings of a document. */
function anchorsOf(document: string): string[] {
  return [...readFileSync(document, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe('the documents', () => {
  it('have no dead link to a file or a heading of this repository', () => {
    const links = DOCUMENTS.flatMap(document =>
      [...readFileSync(document, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => ({ document, link }))
        .filter(({ link }) => !/^https?:/.test(link)),
    );
    const dead = links.filter(({ document, link }) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : join(dirname(document), path);
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
    });
    expect(links.filter(({ link }) => link.includes('#'))).to.not.be.empty;
    expect(dead).to.deep.equal([]);
  });

  it('name no missing file of src, sim, test, scripts, systemd or firmware', () => {
    const named = DOCUMENTS.filter(document => document !== 'CHANGELOG.md').flatMap(document =>
      [
        ...readFileSync(document, 'utf8').matchAll(
          /`((?:src|sim|test|scripts|systemd|firmware)\/[\w./-]+)`/g,
        ),
      ].map(([, path = '']) => ({ document, path })),
    );
    expect(named).to.not.be.empty;
    expect(named.filter(({ path }) => !existsSync(path))).to.deep.equal([]);
  });

  const commands = DOCUMENTS.filter(document => document !== 'CHANGELOG.md').flatMap(document =>
    commandsOf(readFileSync(document, 'utf8')).map(command => ({ document, command })),
  );

  const callsIn = (document: string) => callsOf(readFileSync(document, 'utf8')).map(({ command }) => command);

  it('have no command that is broken over two lines inside a sentence', () => {
    expect(commands).to.not.be.empty;
    // A backslash at the end of a line is no such break.
    expect(commandsOf('$ npm run a -- \\\n    --b\n')).to.deep.equal(['npm run a -- --b']);
    expect(commandsOf('Type `npm run\na` here.')).to.deep.equal(['npm run\na']);
    expect(commands.filter(({ command }) => command.includes('\n'))).to.deep.equal([]);
  });

  it('name only npm scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
    const named = commands.map(one => ({ ...one, script: /npm run (?:-s )?(\S+)/.exec(one.command)?.[1] }));
    expect(named.some(({ script }) => script !== undefined)).to.equal(true);
    expect(named.filter(({ script }) => script !== undefined && !(script in scripts))).to.deep.equal([]);
  });

  it('show only commands that a test runs or that a list exempts with a reason', () => {
    const unknown = commands.filter(
      ({ document, command }) =>
        notTyped(command) === undefined && !TYPED.includes(document) && !callsIn(document).includes(command),
    );
    expect(commands.some(({ document, command }) => callsIn(document).includes(command))).to.equal(true);
    expect(unknown).to.deep.equal([]);
  });
});
