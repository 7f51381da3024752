import type { DocsFolder } from './docs-folder.ts'

/** A section of a document that has to do with a query. */
export interface Passage {
  readonly path: string
  /** From 1 up, where the section begins. */
  readonly line: number
  readonly heading: string
  readonly text: string
}

interface Section extends Passage {
  readonly words: readonly string[]
  readonly headingWords: ReadonlySet<string>
}

const maxPassages = 6
const maxPassageChars = 700

/** The sections of all documents that fit a query best: rare words count more, and words of a heading. */
export async function searchDocs(folder: DocsFolder, query: string): Promise<readonly Passage[]> {
  const sections: Section[] = []
  for (const path of await folder.list()) {
    // What cannot be read (binary, too large) has nothing to find.
    const text = await folder.read(path).catch(() => '')
    sections.push(...sectionsOf(path, text))
  }

  const asked = [...new Set(wordsOf(query))]
  const weights = asked.map((word) => {
    const holders = sections.filter(({ words }) => words.includes(word)).length
    return Math.log(1 + sections.length / (holders + 1))
  })
  const score = ({ words, headingWords }: Section): number =>
    asked.reduce((sum, word, index) => {
      const count = words.filter((each) => each === word).length
      const inHeading = headingWords.has(word) ? 1 : 0
      return sum + weights[index]! * (count / (count + 1 + words.length / 200) + inHeading)
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

/** Divides a document at its Markdown headings, wherever they are not in a code block. */
function sectionsOf(path: string, document: string): readonly Section[] {
  const sections: Section[] = []
  let heading = path
  let start = 1
  let lines: string[] = []
  let inCode = false
  const close = (): void => {
    const text = lines.join('\n').trim()
    const headingWords = new Set(wordsOf(heading))
    if (text !== '')
      sections.push({ path, line: start, heading, text, headingWords, words: wordsOf(text) })
  }
  for (const [index, line] of document.split(/\r?\n/u).entries()) {
    if (line.startsWith('```')) inCode = !inCode
    const title = inCode ? undefined : /^#{1,6}\s+(.*)$/u.exec(line)?.[1]
    if (title === undefined) {
      lines.push(line)
      continue
    }
    close()
    heading = title
    start = index + 1
    lines = []
  }
  close()
  return sections
}

/** The words of a text without their usual English endings, so that `streams` finds `streaming`. */
function wordsOf(text: string): string[] {
  const parts = text.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ').match(/[\p{L}\p{N}]{2,}/gu) ?? []
  return parts
    .map((word) => word.toLowerCase())
    .filter((word) => !stopWords.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(?:ings?|ed|e?s|e)$/u, '') : word))
}

const stopWords = new Set(
  'an and are as at be by can do does for from how in is it its of on or that the this to was what when where which who why will with'.split(
    ' ',
  ),
)
