import { contentWords, stem, stemsOf, wordsOf } from './question-words.ts'

export interface Passage {
  readonly text: string
  /** 0 where no word of the question is in it. */
  readonly score: number
}

/**
 * The passage of a document that has most to do with a question. Rare words count more than common
 * ones, short passages more than long ones, and the headings above a passage a little.
 */
export function bestPassage(document: string, question: string): Passage {
  const asked = contentWords(question).map(stem)
  const passages = passagesOf(document)
  const weights = new Map(
    asked.map((word) => {
      const holders = passages.filter(({ stems }) => stems.has(word)).length
      return [word, holders === 0 ? 0 : Math.log(1 + passages.length / holders)]
    }),
  )
  let best: Passage = { text: '', score: 0 }
  for (const { text, stems, headings, words } of passages) {
    let score = 0
    for (const word of asked) {
      if (stems.has(word)) score += weights.get(word) ?? 0
      if (headings.has(word)) score += 0.5
    }
    score /= 1 + words / typicalWords
    if (score > best.score) best = { text: shorten(text), score }
  }
  return best
}

const typicalWords = 120
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
  readonly headings: ReadonlySet<string>
  readonly words: number
}

// Blank lines, list entries, table rows and headings divide Markdown into passages.
const divider = /\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s|#|\|)|(?<=^#[^\n]*)\n|(?<=^\|[^\n]*)\n/mu

function passagesOf(document: string): readonly Part[] {
  const parts: Part[] = []
  const path: string[] = []
  for (const block of document.replace(/^```.*$/gmu, '').split(divider)) {
    const heading = /^(#+)\s+(.*)$/u.exec(block.trim())
    if (heading !== null) {
      path.length = heading[1]!.length - 1
      path.push(heading[2]!)
      continue
    }
    const text = plainText(block)
    if (!/\p{L}{2}/u.test(text)) continue
    const words = wordsOf(text)
    parts.push({
      text,
      stems: new Set(words.map(stem)),
      headings: stemsOf(path.join(' ')),
      words: words.length,
    })
  }
  return parts
}

function plainText(block: string): string {
  const text = block.replace(/\s+/gu, ' ').trim()
  if (!text.startsWith('|')) return text.replace(/^(?:[-*]|\d+\.)\s+/u, '')
  return text
    .replace(/^\||\|$/gu, '')
    .split('|')
    .map((cell) => cell.trim())
    .filter((cell) => !/^:?-*:?$/u.test(cell))
    .join(': ')
}
