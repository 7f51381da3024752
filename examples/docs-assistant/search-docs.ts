import type { DocsFolder } from './docs-folder.ts'
import { stem } from './stand-in/question-words.ts'

/** A section of a document that matches a query. */
export interface Passage {
  readonly path: string
  /** Line where the section begins, from 1. */
  readonly line: number
  readonly heading: string
  readonly text: string
}

interface Section extends Passage {
  readonly prose: readonly string[]
  readonly code: ReadonlySet<string>
  /** Words of the path, and of the heading. */
  readonly titles: readonly ReadonlySet<string>[]
  /** Words of the heading, and of the title of the document. */
  readonly headings: readonly ReadonlySet<string>[]
}

const maxPassages = 6
const maxPassageChars = 700

/**
 * Finds the sections of all documents that fit a query best. Rare words count more than common ones, words
 * of the heading and the path more than those of the text, code counts little, and a heading that is the
 * question itself counts most.
 */
export async function searchDocs(folder: DocsFolder, query: string): Promise<readonly Passage[]> {
  const sections: Section[] = []
  for (const path of await folder.list()) {
    // A file that cannot be read (binary, too large) has no sections.
    const text = await folder.read(path).catch(() => '')
    sections.push(...knownSections(folder, path, text))
  }

  const asked = [...new Set(wordsOf(query))].map((word) => {
    const holders = sections.filter(({ prose }) => prose.includes(word)).length
    return { word, weight: Math.log(1 + sections.length / (holders + 1)) }
  })
  const total = asked.reduce((sum, { weight }) => sum + weight, 0)
  const score = ({ path, prose, code, titles, headings }: Section): number =>
    headings.reduce((sum, words) => sum + total * agreement(words, asked), 0) +
    (agreement(headings[0]!, asked) === 1 ? (isGlossary(path) ? 3 : 0.4) * total : 0) +
    asked.reduce((sum, { word, weight }) => {
      const count = prose.filter((each) => each === word).length
      const inProse = count / (count + 1 + prose.length / 200)
      const inTitles = titles.filter((title) => title.has(word)).length * 0.7
      const inCode = code.has(word) ? 0.2 : 0
      return sum + weight * (inProse + inTitles + inCode)
    }, 0)

  return sections
    .map((section) => ({ section, score: score(section) }))
    .filter((found) => found.score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, maxPassages)
    .map(({ section: { path, line, heading, text } }) => ({
      path,
      line,
      heading,
      text: text.length > maxPassageChars ? `${text.slice(0, maxPassageChars)} …` : text,
    }))
}

/** Returns true for the glossary: a question of one word usually asks for its meaning. */
function isGlossary(path: string): boolean {
  return /(?:^|\/)glossary\.\w+$/iu.test(path)
}

/** Returns the agreement of a heading with the question, from 0 to 1. */
function agreement(
  heading: ReadonlySet<string>,
  asked: readonly { readonly word: string }[],
): number {
  const common = asked.filter(({ word }) => heading.has(word)).length
  return common === 0 ? 0 : common ** 2 / (asked.length * heading.size)
}

/** Sections of a document, which are found anew when its text has changed. */
function knownSections(folder: DocsFolder, path: string, text: string): readonly Section[] {
  const documents = known.get(folder) ?? new Map<string, KnownDocument>()
  known.set(folder, documents)
  const before = documents.get(path)
  if (before?.text === text) return before.sections
  const sections = sectionsOf(path, text)
  documents.set(path, { text, sections })
  return sections
}

const known = new WeakMap<DocsFolder, Map<string, KnownDocument>>()

interface KnownDocument {
  readonly text: string
  readonly sections: readonly Section[]
}

/** Divides a document at its Markdown headings, except those in a code block. */
function sectionsOf(path: string, document: string): readonly Section[] {
  const sections: Section[] = []
  let heading = path
  const title = new Set(wordsOf(/^# (.*)$/mu.exec(document)?.[1] ?? path))
  let start = 1
  let lines: string[] = []
  let isCode = false
  const close = (): void => {
    const text = lines.join('\n').trim()
    if (text === '') return
    const prose = wordsOf(text.replace(codeBlock, ' '))
    const code = new Set(wordsOf((text.match(codeBlock) ?? []).join(' ')))
    const titles = [new Set(wordsOf(path)), new Set(wordsOf(heading))]
    const headings = [titles[1]!, title]
    sections.push({ path, line: start, heading, text, prose, code, titles, headings })
  }
  for (const [index, line] of document.split(/\r?\n/u).entries()) {
    if (line.startsWith('```')) isCode = !isCode
    const found = isCode ? undefined : /^#{1,6}\s+(.*)$/u.exec(line)?.[1]
    if (found === undefined) {
      if (isCode || !isNavigation(line)) lines.push(line)
      continue
    }
    close()
    heading = found
    start = index + 1
    lines = []
  }
  close()
  return sections
}

/** Returns true for a line of links and nothing else, such as the contents of a page. */
function isNavigation(line: string): boolean {
  return /\]\(#/u.test(line) && !/\p{L}/u.test(line.replace(/\[[^\]]+\]\([^)]*\)/gu, ''))
}

const codeBlock = /^```[^]*?^```/gmu

/**
 * Words of a text without their usual English endings, so that `streams` finds `streaming`. A name such as
 * `useChat` counts as a whole and by its parts.
 */
function wordsOf(text: string): string[] {
  const names = text.match(/[\p{L}\p{N}]{2,}/gu) ?? []
  return names
    .flatMap((name) => {
      const parts = name.split(/(?<=\p{Ll})(?=\p{Lu})/u)
      return parts.length > 1 ? [name, ...parts] : parts
    })
    .map((word) => word.toLowerCase())
    .filter((word) => !stopWords.has(word))
    .map(stem)
}

const stopWords = new Set(
  'an and are as at be by can do does for from how in is it its of on or that the this to was what when where which who why will with'.split(
    ' ',
  ),
)
