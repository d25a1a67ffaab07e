import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

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
  it('have no dead links', () => {
    const dead = DOCUMENTS.flatMap(document =>
      [...readFileSync(document, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, link = '']) => link)
        .filter(link => !/^https?:/.test(link))
        .filter(link => {
          const [path = '', anchor] = link.split('#');
          const target = path === '' ? document : join(dirname(document), path);
          return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
        })
        .map(link => `${document}: ${link}`),
    );
    expect(dead).to.deep.equal([]);
  });
});
