import { contentWords, stem, stemsOf, wordsOf } from './question-words.ts'

export interface Passage {
  readonly text: string
  /** 0 if it contains no word of the question. */
  readonly score: number
}

/**
 * Finds the passage of a document that fits a question best. Rare words count more than common
 * ones, short passages more than long ones, sentences more than fragments, and text below a heading
 * with words of the question more than other text. Code is never quoted, and the row of a
 * table only if little else fits.
 */
export function bestPassage(document: string, question: string): Passage {
  const asked = contentWords(question).map(stem)
  const parts = partsOf(document)
  const weights = new Map(
    asked.map((word) => {
      const holders = parts.filter(({ stems }) => stems.has(word)).length
      return [word, holders === 0 ? 0 : Math.log(1 + parts.length / holders)]
    }),
  )
  let best: Passage = { text: '', score: 0 }
  for (const part of parts) {
    const { text, stems, headings, words } = part
    let score = headingWeight * agreement(part.follows, asked)
    for (const word of asked) {
      if (stems.has(word)) score += weights.get(word) ?? 0
      if (headings.has(word)) score += 0.5
    }
    score /= 1 + words / typicalWords
    if (words < fewWords) score /= 4
    if (part.isTable) score /= 3
    if (isLead(text)) score /= 2
    if (score > best.score) best = { text: shorten(text), score }
  }
  return best
}

const maxChars = 420

/** Cuts a long text after the last sentence, or else the last word, that fits. */
export function shorten(text: string): string {
  if (text.length <= maxChars) return text
  const start = text.slice(0, maxChars)
  const sentence = /^[\s\S]*[.!?](?=\s)/u.exec(start)?.[0]
  if (sentence !== undefined && sentence.length > maxChars / 3) return sentence
  return `${start.replace(/\s+\S*$/u, '')} …`
}

interface Part {
  readonly text: string
  readonly stems: ReadonlySet<string>
  readonly words: number
  readonly isTable: boolean
  /** The headings above it. */
  readonly headings: ReadonlySet<string>
  /** Heading directly above it, for the first text of a section. */
  readonly follows: Heading | undefined
}

interface Heading {
  readonly stems: ReadonlySet<string>
  readonly level: number
}

const typicalWords = 120
const fewWords = 8
const headingWeight = 4

/**
 * Rates from 0 to 1 how well a heading matches the question, and nothing else. A title counts more
 * than the heading of a section.
 */
function agreement(heading: Heading | undefined, asked: readonly string[]): number {
  if (heading === undefined || asked.length === 0 || heading.stems.size === 0) return 0
  const common = asked.filter((word) => heading.stems.has(word)).length
  return common ** 2 / (asked.length * heading.stems.size * Math.sqrt(heading.level))
}

const fence = /^[ \t]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^[ \t]*\1[`~]*[ \t]*$|(?![\s\S]))/gmu

// Blank lines, list entries, table rows and headings divide Markdown into passages.
const divider = /\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s|#|\|)|(?<=^#[^\n]*)\n|(?<=^\|[^\n]*)\n/mu

function partsOf(document: string): readonly Part[] {
  const parts: Part[] = []
  const path: string[] = []
  let follows: Heading | undefined
  for (const block of document.replace(fence, '').split(divider)) {
    const heading = /^(#+)\s+(.*)$/u.exec(block.trim())
    if (heading !== null) {
      path.length = heading[1]!.length - 1
      path.push(heading[2]!)
      const stems = new Set(contentWords(heading[2]!).map(stem))
      follows = { stems, level: heading[1]!.length }
      continue
    }
    const text = plainText(block)
    if (!/\p{L}{2}/u.test(text) || /^(?:<|!\[)/u.test(text) || isNavigation(block)) continue
    const words = wordsOf(text)
    const isTable = block.trimStart().startsWith('|')
    parts.push({
      text,
      stems: new Set(words.map(stem)),
      words: words.length,
      isTable,
      headings: stemsOf(path.join(' ')),
      follows,
    })
    if (!isTable && !isLead(text)) follows = undefined
  }
  return parts
}

/** Returns true for links within the page and nothing else, such as its contents. */
function isNavigation(block: string): boolean {
  return /\]\(#/u.test(block) && !/\p{L}/u.test(block.replace(/\[[^\]]+\]\([^)]*\)/gu, ''))
}

/** Returns true for text that only introduces code or a list. */
function isLead(text: string): boolean {
  return text.endsWith(':')
}

function plainText(block: string): string {
  const text = block
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(/(?<!!)\[([^\]]+)\]\([^)\s]*\)/gu, '$1')
  if (!text.startsWith('|')) return text.replace(/^(?:[-*]|\d+\.)\s+/u, '')
  return text
    .replace(/^\||\|$/gu, '')
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => !/^:?-*:?$/u.test(cell))
    .join(': ')
}
