// Puts the documents that a package's README links to into its tarball, and makes its links fit that place.
// usage: node scripts/packed-documents.ts <folder of `changeset pack`>
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { internalLinks, replaceLinks } from './conventions/markdown.ts'

const root = dirname(import.meta.dirname)

/** Adds its documents to a tarball, which was packed from a folder such as `packages/core`. */
export function addDocuments(tarball: string, folder: string): void {
  const { homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const unpacked = mkdtempSync(join(tmpdir(), 'lamella-documents-'))
  try {
    execFileSync('tar', ['-xzf', tarball, '-C', unpacked])
    for (const [path, content] of packedDocuments(folder, homepage)) {
      const target = join(unpacked, 'package', path)
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, content)
    }
    execFileSync('tar', ['-czf', tarball, '-C', unpacked, 'package'])
  } finally {
    rmSync(unpacked, { recursive: true })
  }
}

/**
 * The README of a package and everything it links to, by path in the package. Files of the package keep their
 * place; pages and examples are copied, with the pictures of the pages. A link to anything else becomes an
 * address below `homepage`, or without one, plain text that names the package.
 */
export function packedDocuments(folder: string, homepage?: string): Map<string, string | Buffer> {
  const readme = posix.join(folder, 'README.md')
  const paths = new Map([[readme, 'README.md']])
  for (const file of linked(readme)) {
    if (file.startsWith(`${folder}/`)) paths.set(file, posix.relative(folder, file))
    else if (/^(?:docs|examples)\/.*\.\w+$/.test(file)) paths.set(file, file)
  }
  for (const page of [...paths.keys()].filter((file) => /^docs\/.*\.md$/.test(file))) {
    for (const file of linked(page)) if (/\.(?:svg|png)$/.test(file)) paths.set(file, file)
  }
  return new Map(
    [...paths].map(([file, path]) => [
      path,
      file.endsWith('.md') ? withLinks(file, paths, homepage) : readFileSync(join(root, file)),
    ]),
  )
}

/** Text of a page whose links lead to files of the package, or to addresses, or are plain text. */
function withLinks(page: string, paths: ReadonlyMap<string, string>, homepage?: string): string {
  const own = paths.get(page) ?? page
  return replaceLinks(read(page), ({ text, target, whole }) => {
    if (isAddress(target)) return whole
    const [, anchor = ''] = target.split(/(?=#)/)
    const file = fileOf(page, target)
    const path = paths.get(file)
    const inside =
      path === undefined ? undefined : posix.relative(posix.dirname(own), path) + anchor
    const outside = addressOf(file, anchor, homepage)
    // A registry shows the README alone, where the copies of other documents cannot be reached.
    const link = own === 'README.md' && path === file ? (outside ?? inside) : (inside ?? outside)
    if (link !== undefined) return `[${text}](${link})`
    const name = packageOf(file)
    const isNamed = name === undefined || text.includes(name.replace('@lamella/', ''))
    return isNamed ? text : `${text} (\`${name}\`)`
  })
}

/** Files of the repository that a page links to. */
function linked(page: string): string[] {
  const text = read(page)
  const pictures = [...text.matchAll(/<img src="([^":]+)"/g)].map(([, target = '']) => target)
  return [...internalLinks(text).map(({ target }) => target), ...pictures]
    .filter((target) => !isAddress(target))
    .map((target) => fileOf(page, target))
}

function isAddress(target: string): boolean {
  return /^[a-z][a-z0-9+.-]*:|^#/i.test(target)
}

function fileOf(page: string, target: string): string {
  const file = posix.join(posix.dirname(page), target.replace(/#.*$/, ''))
  if (!existsSync(join(root, file))) throw new Error(`${page}: ${target} leads nowhere`)
  return statSync(join(root, file)).isDirectory() ? posix.join(file, 'README.md') : file
}

/** Address of the page of the site that shows a file. */
function addressOf(file: string, anchor: string, homepage?: string): string | undefined {
  if (homepage === undefined || !/\.md$|^examples\/\d[^/]*\.ts$/.test(file)) return undefined
  const page = file.replace(/(^|\/)README\.md$/, '$1').replace(/\.\w+$/, '.html')
  return new URL(page + anchor, homepage).href
}

function packageOf(file: string): string | undefined {
  const [, folder] = /^(packages\/[^/]+)\//.exec(file) ?? []
  return folder === undefined ? undefined : JSON.parse(read(`${folder}/package.json`)).name
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

if (import.meta.main) {
  const folder = process.argv[2]
  if (folder === undefined) throw new Error('expected the folder that `changeset pack` wrote')
  const file = join(folder, 'publish-plan.json')
  const list = JSON.parse(readFileSync(file, 'utf8'))
  for (const { name, tarball } of list.plan.flat()) {
    if (tarball === undefined) continue
    const path = join(folder, tarball.path)
    addDocuments(path, `packages/${name.replace('@lamella/', '')}`)
    tarball.integrity = `sha256-${createHash('sha256').update(readFileSync(path)).digest('base64')}`
  }
  writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`)
}
