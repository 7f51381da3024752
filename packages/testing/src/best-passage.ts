import { contentWords, stem, stemsOf } from './question-words.ts'

export interface Passage {
  readonly text: string
  /** 0 where no word of the question is in it. */
  readonly score: number
}

/**
 * The passage of a document that has most to do with a question: rare words count more than common
 * ones, and the headings above a passage count a little.
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
  for (const { text, stems, headings } of passages) {
    let score = 0
    for (const word of asked) {
      if (stems.has(word)) score += weights.get(word) ?? 0
      if (headings.has(word)) score += 0.5
    }
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
  readonly headings: ReadonlySet<string>
}

function passagesOf(document: string): readonly Part[] {
  const parts: Part[] = []
  const path: string[] = []
  for (const block of document.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s|#)|(?<=^#[^\n]*)\n/mu)) {
    const heading = /^(#+)\s+(.*)$/u.exec(block.trim())
    if (heading !== null) {
      path.length = heading[1]!.length - 1
      path.push(heading[2]!)
      continue
    }
    const text = block
      .replace(/\s+/gu, ' ')
      .replace(/^(?:[-*]|\d+\.)\s+/u, '')
      .trim()
    if (!/\p{L}{2}/u.test(text)) continue
    parts.push({ text, stems: stemsOf(text), headings: stemsOf(path.join(' ')) })
  }
  return parts
}
