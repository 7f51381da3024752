/** A text with repaired key words, with a mapping back to the original text. */
export interface MendedText {
  /** The text, in which key words replace words that differ from them by one letter. */
  readonly text: string
  /** Maps an index of `text` to the index in the original text. */
  readonly toOriginal: (index: number) => number
}

/** Key words of signs, in the forms that signs look for. */
const keyWords =
  'ignore ignoring disregard disregarding forget neglect bypass override overriding previous previously earlier preceding foregoing initial original instruct instructions instruction directions directive directives prompts prompt guidelines commands constraints restrictions limitations programming training safeguards policies protocols reveal display repeat system hidden secret internal confidential developer administrator unrestricted unfiltered uncensored jailbreak assistant pretend restricted unethical everything anything'.split(
    ' ',
  )
/** Ordinary words that differ from a key word by one letter. */
const otherWords = new Set(
  'revel repeal reread overrides overrode overripe forgot forged forger neglects bypassed restraints discard disregards ignored ignores ignorer prevision originals original internals commends command comments instructor instructed instructs directs direction promote prompted romps secrets secrete secreted repeats repeated repent systems hiddens policed polices training straining draining raining trainings protocol display displays displace developed develops developers pretends pretense pretended constraint restriction limitation limitations initials previously earliest guideline assistants reveals revealed evil anything'.split(
    ' ',
  ),
)
const fewestLetters = 5
const word = /(?<![\p{L}\p{N}])[A-Za-z]{5,16}(?![\p{L}\p{N}])/gu

const known = new Set(keyWords)

/** Key words that may be repaired, by their first letter. */
const byFirstLetter = new Map<string, string[]>()
for (const key of keyWords) {
  if (key.length <= fewestLetters) continue
  const others = byFirstLetter.get(key[0]!) ?? []
  byFirstLetter.set(key[0]!, [...others, key])
}

/**
 * Repairs key words with one letter changed, doubled, swapped or missing. Returns nothing if there
 * are none.
 */
export function mendWords(text: string): MendedText | undefined {
  const edits: { readonly from: number; readonly shift: number }[] = []
  const made = new Map<string, string | undefined>()
  let mended = ''
  let done = 0
  for (const { 0: written, index } of text.matchAll(word)) {
    const lower = written.toLowerCase()
    if (!made.has(lower)) made.set(lower, keyWordOf(lower))
    const key = made.get(lower)
    if (key === undefined) continue
    mended += text.slice(done, index) + key
    done = index + written.length
    edits.push({ from: mended.length, shift: done - mended.length })
  }
  if (edits.length === 0) return undefined
  return {
    text: mended + text.slice(done),
    toOriginal: (index) => {
      let [low, high] = [0, edits.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if (edits[middle]!.from <= index) low = middle + 1
        else high = middle
      }
      return index + (edits[low - 1]?.shift ?? 0)
    },
  }
}

/**
 * Returns the key word that a word differs from by one letter. The first letter and the last but
 * one must be equal.
 */
function keyWordOf(written: string): string | undefined {
  if (known.has(written) || otherWords.has(written)) return undefined
  return byFirstLetter.get(written[0]!)?.find((key) => isMisspelt(written, key))
}

/**
 * Returns true if two words differ by one letter or by two swapped letters, but not at either end.
 */
function isMisspelt(written: string, key: string): boolean {
  const longer = written.length - key.length
  if (longer > 1 || longer < -1) return false
  const most = Math.min(written.length, key.length)
  let start = 1
  while (start < most && written.charCodeAt(start) === key.charCodeAt(start)) start++
  let tail = 0
  while (
    tail < most - start &&
    written.charCodeAt(written.length - 1 - tail) === key.charCodeAt(key.length - 1 - tail)
  ) {
    tail++
  }
  // Another ending makes another word.
  if (tail === 0) return false
  const [left, right] = [written.length - start - tail, key.length - start - tail]
  if (left + right <= 1 || (left === 1 && right === 1)) return true
  const isSwapped = written[start] === key[start + 1] && written[start + 1] === key[start]
  return left === 2 && right === 2 && isSwapped
}
