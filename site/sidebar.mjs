// The sidebar of the site, from the lists that the repository already has.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { examples, pageOf, root } from './pages.mjs'

const read = (path) => readFileSync(join(root, path), 'utf8')

/** Sections of the sidebar: those of docs/README.md, then packages, examples and API. */
export function sidebar(api) {
  return [
    {
      text: 'Start',
      items: [item('Overview', 'README.md'), item('All documents', 'docs/README.md')],
    },
    ...sections('docs/README.md'),
    { text: 'Packages', collapsed: true, items: packages() },
    {
      text: 'Examples',
      collapsed: true,
      items: [
        item('All examples', 'examples/README.md'),
        ...examples().map((path) => item(path.slice('examples/'.length, -'.ts'.length), path)),
      ],
    },
    {
      text: 'API',
      collapsed: true,
      items: api.map(({ name, page }) => ({
        text: name.replace('@lamella/', ''),
        link: `/${page}`,
      })),
    },
    { text: 'Contributing', collapsed: true, items: [item('Contributing', 'CONTRIBUTING.md')] },
  ]
}

/** Lists under the headings of a document. */
function sections(path) {
  return read(path)
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [text] = section.split('\n', 1)
      const links = [...section.matchAll(/^- \[([^\]]+)\]\(([^)#]+)[^)]*\)/gm)]
      return {
        text,
        collapsed: text !== 'Concepts' && text !== 'Tasks',
        items: links.map(([, name, target]) =>
          item(name.replaceAll('`', ''), posix.join(posix.dirname(path), target)),
        ),
      }
    })
    .filter(({ items }) => items.length > 0)
}

function packages() {
  const links = [...read('README.md').matchAll(/^\| \[`([^`]+)`\]\((packages\/[^)]+)\)/gm)]
  return links.map(([, name, target]) => item(name.replace('@lamella/', ''), target))
}

function item(text, source) {
  return {
    text,
    link: `/${pageOf(source)
      .replace(/index\.md$/, '')
      .replace(/\.md$/, '')}`,
  }
}
