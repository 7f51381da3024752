// Turns the Markdown of the repository into the pages of the site. The repository stays the source: files are
// read as they are, and only what a site needs otherwise is changed on the way.
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  cpSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { dirname, extname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
export const pagesFolder = join(root, 'site', '.pages')

const leftOut = /^(?:templates|site)\/|CHANGELOG\.md$|\/api\/|^\.changeset|\/fixtures\//
const example = /^examples\/\d+-[^/]+\.ts$/
const pictureTypes = new Set(['.svg', '.png'])

/** Path of the page, or of the plain text, that shows a file of the repository. */
export function pageOf(path) {
  if (leftOut.test(path)) return `files/${path}.txt`
  if (path.endsWith('.md')) return path.replace(/(^|\/)README\.md$/, '$1index.md')
  return example.test(path) ? path.replace(/\.ts$/, '.md') : `files/${path.replace(/^\./, '')}.txt`
}

/** Writes all pages, and returns those made of Markdown: path, title, text. */
export function writePages() {
  rmSync(pagesFolder, { recursive: true, force: true })
  const sources = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
    .split('\n')
    .filter((path) => path !== '' && !leftOut.test(path) && existsSync(join(root, path)))
  const wanted = new Set()
  const pages = sources.map((source) => {
    const text = read(source)
    const page = pageOf(source)
    const body = convert(text, source, wanted)
    write(page, source === 'README.md' ? withStart(body) : body)
    return { page, source, title: titleOf(text), text: withoutComments(text) }
  })
  for (const path of examples()) writeExample(path)
  for (const path of wanted) write(posix.join('public', pageOf(path)), read(path))
  return pages
}

/** Numbered examples of the repository. */
export function examples() {
  const all = execFileSync('git', ['ls-files', 'examples'], { cwd: root, encoding: 'utf8' })
  return all.split('\n').filter((path) => example.test(path))
}

/** First heading, without its marks. */
function titleOf(text) {
  return (/^# (.+)$/m.exec(text)?.[1] ?? '').replaceAll('`', '')
}

/** First paragraph, on one line and without links. */
export function firstParagraph(text) {
  const paragraphs = text.split(/\n{2,}/).map((part) => part.trim())
  const first =
    paragraphs.find((part) => /^[\p{L}`*[@]/u.test(part) && !part.startsWith('```')) ?? ''
  return first.replaceAll('\n', ' ').replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
}

/** Lines of Markdown with what a function makes of those outside of code blocks. */
function mapProse(text, change) {
  let fence
  return text
    .split('\n')
    .map((line) => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1]
      if (fence === undefined && mark !== undefined) fence = mark
      else if (fence !== undefined && mark !== undefined && mark.startsWith(fence))
        fence = undefined
      else if (fence === undefined) return change(line)
      return line
    })
    .join('\n')
}

function convert(text, source, wanted) {
  const link = (_, start, target) => start + linkFrom(source, target, wanted)
  return mapProse(withTableHeads(withoutComments(withTabs(text))), (line) =>
    outsideCode(line, (prose) =>
      prose
        .replaceAll('{{', '&#123;&#123;')
        .replaceAll(/<(?!\/?(?:img|br|details|summary|kbd|div|svg)\b|https?:)(?=[\w/])/g, '&lt;')
        .replaceAll(/(\]\()([^)\s]+)(?=[^)]*\))/g, link)
        .replaceAll(/(<img src=")([^"]+)/g, link),
    ),
  )
}

/** Applies a change to a line whose code spans are out of its reach. */
function outsideCode(line, change) {
  const spans = []
  const masked = line.replaceAll(
    /(`+)(?!`).*?[^`]\1(?!`)/g,
    (span) => `\ue000${spans.push(span) - 1}\ue000`,
  )
  return change(masked).replaceAll(/\ue000(\d+)\ue000/g, (_, index) => spans[index])
}

/** Link of a page, for a link of the file that it is made of. */
function linkFrom(source, target, wanted) {
  if (/^[a-z]+:|^#/.test(target)) return target
  const [path, anchor] = target.split('#')
  const found = posix.normalize(posix.join(posix.dirname(source), path))
  const file = resolveFile(found)
  if (file === undefined) throw new Error(`${source}: ${target} leads nowhere`)
  if (pictureTypes.has(extname(file))) {
    mkdirSync(dirname(join(pagesFolder, file)), { recursive: true })
    cpSync(join(root, file), join(pagesFolder, file))
    return relative(source, file)
  }
  const page = pageOf(file)
  if (page.endsWith('.txt')) wanted.add(file)
  // Those are no pages: the site serves them as they are.
  if (page.endsWith('.txt')) return `/${page}`
  return relative(source, page) + (anchor === undefined ? '' : `#${anchor}`)
}

function resolveFile(path) {
  const full = join(root, path)
  if (!existsSync(full)) return undefined
  if (!statSync(full).isDirectory()) return path
  const readme = posix.join(path, 'README.md')
  return existsSync(join(root, readme)) ? readme : undefined
}

function relative(source, page) {
  const path = posix.relative(posix.dirname(pageOf(source)), page)
  return path.startsWith('.') ? path : `./${path}`
}

/** Page of an example: what it shows, its code, and how to run it. */
function writeExample(path) {
  const text = read(path)
  const [, comment = ''] = /^((?:\/\/ .*\n)+)/.exec(text) ?? []
  const words = comment.replaceAll(/^\/\/ /gm, '').trim()
  const name = path.slice('examples/'.length, -'.ts'.length)
  const title = name.replace(/^\d+-/, '').replaceAll('-', ' ')
  write(
    pageOf(path),
    `# Example: ${title}\n\n${escaped(words)}\n\n${fenced(text.slice(comment.length).trim(), 'ts')}\n
Run it in a checkout of the repository:\n\n${fenced(`node --conditions=@lamella/source ${path}`, 'sh')}`,
  )
}

function withStart(text) {
  const start = readFileSync(join(root, 'site', 'start.html'), 'utf8')
    .replaceAll(/\n\s*/g, ' ')
    .trim()
  return text.replace(/^(# .+\n)/, `$1\n${start}\n`)
}

function fenced(code, language) {
  return `\`\`\`\`${language}\n${code.trimEnd()}\n\`\`\`\`\n`
}

function escaped(text) {
  return text.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')
}

/** With words in the heads of columns that have none, for who cannot see the column. */
function withTableHeads(text) {
  return text.replaceAll(/^\|.*\|$(?=\n\|[-:| ]+\|$)/gm, (head) =>
    head.replaceAll(/\|\s*(?=\|)/g, '| description '),
  )
}

const block = '```(?:ts|sh)\\n[^]*?\\n```\\n'

/** With tabs for blocks that a comment names, and for package managers. */
function withTabs(text) {
  const named = new RegExp(`^<!-- tabs: (.*) -->\\n\\n((?:${block}\\n?)+)`, 'gm')
  const group = (blocks) => `::: code-group\n\n${blocks.join('\n')}\n:::\n\n`
  return text
    .replaceAll(named, (_, names, all) => {
      const titles = names.split(', ')
      const blocks = all.match(new RegExp(block, 'g'))
      return group(blocks.map((each, at) => each.replace('\n', ` [${titles[at]}]\n`)))
    })
    .replaceAll(
      /^```sh\n((?:npm install (?!--prefix)[^\n]*(?:\\\n[^\n]*)*\n)+)```\n\n?/gm,
      (_, lines) =>
        group(managers.map((one) => `\`\`\`sh [${one.name}]\n${one.say(lines)}\`\`\`\n`)),
    )
}

/** Package managers, and how they say what npm does. */
const managers = [
  { name: 'npm', say: (lines) => lines },
  { name: 'pnpm', say: (lines) => added(lines, 'pnpm add', '-D') },
  { name: 'yarn', say: (lines) => added(lines, 'yarn add', '-D') },
  { name: 'bun', say: (lines) => added(lines, 'bun add', '-d') },
]

function added(lines, command, dev) {
  return lines.replaceAll(/^npm install/gm, command).replaceAll(' --save-dev', ` ${dev}`)
}

/** Without comments, which hold what a snippet is compiled with. */
function withoutComments(text) {
  return text.replaceAll(/^<!--[^]*?-->\n?/gm, '')
}

function read(path) {
  return readFileSync(join(root, path), 'utf8').replaceAll('\r\n', '\n')
}

export function write(page, text) {
  const path = join(pagesFolder, page)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
