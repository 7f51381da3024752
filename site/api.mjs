// Writes one page for each entry of each package, from its types and their comments.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { Application } from 'typedoc'
import { pagesFolder, root } from './pages.mjs'

/** Names of the entries of all packages, with the file of each. */
function entries() {
  return readdirSync(join(root, 'packages')).flatMap((folder) => {
    const {
      name,
      exports = {},
      bin,
    } = JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))
    if (bin !== undefined && Object.keys(exports).length === 0) return []
    return Object.entries(exports).flatMap(([entry, { '@lamella/source': file } = {}]) =>
      file === undefined
        ? []
        : [{ name: name + entry.slice(1), file: join(root, 'packages', folder, file) }],
    )
  })
}

/** Writes the pages, and returns the names of their entries with the page of each. */
export async function writeApiPages() {
  const all = entries()
  const app = await Application.bootstrapWithPlugins({
    entryPoints: all.map(({ file }) => file),
    tsconfig: join(root, 'site', 'tsconfig.api.json'),
    plugin: ['typedoc-plugin-markdown'],
    logLevel: 'Error',
    skipErrorChecking: true,
    readme: 'none',
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeExternals: true,
    githubPages: false,
    outputFileStrategy: 'modules',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    expandObjects: false,
    parametersFormat: 'list',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    propertyMembersFormat: 'table',
    enumMembersFormat: 'table',
    typeDeclarationFormat: 'table',
    tableColumnSettings: {
      hideInherited: true,
      hideModifiers: true,
      hideOverrides: true,
      hideSources: true,
    },
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('the types of the packages could not be read')
  const pages = []
  for (const module of project.children ?? []) {
    const entry = all.find(({ file }) => nameOfModule(file) === module.name)
    if (entry === undefined) throw new Error(`no entry of a package is ${module.name}`)
    module.name = entry.name.replace('@lamella/', '').replaceAll('/', '-')
    pages.push({ name: entry.name, page: `api/${module.name}.md` })
  }
  const folder = join(pagesFolder, 'api')
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project)
  for (const name of readdirSync(folder)) {
    const known = pages.find(({ page }) => page === `api/${name}`)
    if (known === undefined) rmSync(join(folder, name), { recursive: true })
    else rewrite(join(folder, name), known.name)
  }
  mkdirSync(folder, { recursive: true })
  const list = pages.toSorted((left, right) => (left.name < right.name ? -1 : 1))
  const links = list.map(({ name, page }) => `- [\`${name}\`](./${basename(page)})`)
  writeFileSync(
    join(folder, 'index.md'),
    `# API reference\n\nEvery export of every package, from its types.\n\n${links.join('\n')}\n`,
  )
  return list
}

/** Name that TypeDoc gives to the module of a file. */
function nameOfModule(file) {
  return relative(join(root, 'packages'), file).replace(/(?:\/index)?\.ts$/, '')
}

function rewrite(path, name) {
  const text = readFileSync(path, 'utf8')
    .replace(/^# .*$/m, `# ${name}`)
    .replaceAll('{{', '&#123;&#123;')
  const anchors = new Set([...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading)))
  // TypeDoc numbers names that are there as a type and as a value, of which one page may show one only.
  const linked = text.replaceAll(/\]\(#([^)]+?)-\d+\)/g, (link, anchor) =>
    anchors.has(link.slice(3, -1)) ? link : `](#${anchor})`,
  )
  writeFileSync(path, `---\noutline: [2, 3]\n---\n\n${linked}`)
}

function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}
