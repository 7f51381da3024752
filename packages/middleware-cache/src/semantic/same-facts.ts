/**
 * Tells whether two questions name the same things. Questions that differ in a number, a date, a name or
 * a negation have similar vectors and different answers.
 *
 * Compares in order: words with digits, signs such as `+` and `%`, words with a capital letter (also if
 * only one question capitalizes them), and quoted text; and in any order, English words that turn a
 * question around. A name that both write in lower case goes unnoticed.
 */
export function sameFacts(one: string, other: string): boolean {
  const [a, b] = [readFacts(one), readFacts(other)]
  const names = new Set([...a.names, ...b.names])
  const named = ({ words }: Facts): readonly string[] =>
    words.filter((word) => names.has(word) || hasFact.test(word))
  return (
    equal(named(a), named(b)) &&
    equal(a.quotes, b.quotes) &&
    equal(a.telling.toSorted(), b.telling.toSorted())
  )
}

interface Facts {
  /** All words and signs in lower case. */
  readonly words: readonly string[]
  /** Words with a capital letter. */
  readonly names: readonly string[]
  readonly quotes: readonly string[]
  readonly telling: readonly string[]
}

function readFacts(text: string): Facts {
  const normal = text.normalize('NFKC')
  const words: string[] = []
  const names: string[] = []
  const telling: string[] = []
  let begins = true
  for (const [token] of normal.matchAll(tokens)) {
    const isEnd = sentenceEnd.test(token)
    if (!isEnd) {
      const word = token.toLowerCase().replaceAll(thousands, '')
      words.push(word)
      const isOpening = begins && openings.has(word)
      if (capital.test(token) && word !== 'i' && !isOpening) names.push(word)
      if (turning.has(word) || negated.test(word)) telling.push(word)
    }
    begins = isEnd
  }
  const quotes = [...normal.matchAll(quoted)].map(([quote]) => quote.slice(1, -1))
  return { words, names, quotes, telling }
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((fact, at) => fact === b[at])
}

// Words, with marks inside of them; signs that carry meaning; ends of sentences.
const tokens =
  /[\p{L}\p{M}\p{N}]+(?:[.,:/_'’-][\p{L}\p{M}\p{N}]+)*|[$€£¥%+#@&=<>°]|[-−](?=\p{N})|[.!?\n]/gu
const sentenceEnd = /^[.!?\n]$/
const hasFact = /[\p{N}$€£¥%+#@&=<>°−]|^-$/u
const capital = /\p{Lu}/u
const thousands = /(?<=\d),(?=\d{3}(?!\d))/g
const negated = /n['’]t$/
const quoted = /"[^"\n]*"|“[^“”\n]*”|`[^`\n]*`|«[^«»\n]*»/g

const listOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/))

/** Words that begin a question and are no names. */
const openings = listOf(
  `a about am an and any are as at be but by can could describe did do does explain find for from give had
  has have hello hey hi how if in is it list may me might my of on or our please shall should show so tell
  that the their there these they this those to was we were what what's when where which who who's whose why
  will with would write you your`,
)

/** Words that change a question. Months and weekdays have capital letters. */
const turning = listOf(
  `no not never none nothing neither nor without except cannot before after until since above below over
  under more less fewer most least max min maximum minimum first last next previous yesterday today tomorrow
  increase decrease raise lower enable disable enabled disabled add remove start stop open close buy sell
  import export allow deny accept reject encrypt decrypt upgrade downgrade install uninstall left right true
  false two three four five six seven eight nine ten eleven twelve hundred thousand million billion half
  twice double nicht kein keine keinen nie ohne pas jamais sans nunca sin`,
)
