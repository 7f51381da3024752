const stopWords = new Set(
  `a an and any are as at be been but by can could did do does doing done for from had has have he her
  his how i if in into is it its just like made make may me might more most must my no not of off on or
  our out over please shall she should so some such tell than that the their them then there these they
  this those to under up us was we were what when where which while who whom whose why will with would
  you your about explain describe give show say know need want there's what's mean means work works
  happen happens get use used using again whether try tries please does what`.split(/\s+/),
)

/** The words of a text, lower case. A compound such as `maxRetries` is followed by its parts. */
export function wordsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}]+(?:'[\p{L}]+)?/gu) ?? []).flatMap((word) => {
    const parts = word.split(/(?<=\p{Ll})(?=\p{Lu})/u)
    return [...(parts.length > 1 ? [word] : []), ...parts].map((part) => part.toLowerCase())
  })
}

/** Content words of a question, in order, each once. */
export function contentWords(question: string): string[] {
  const found = wordsOf(question).filter((word) => word.length > 1 && !stopWords.has(word))
  return [...new Set(found)]
}

/** A word without its usual English endings. The rules are simple and deterministic. */
export function stem(word: string): string {
  const bare = word.replace(/'s?$/u, '')
  for (const ending of ['ingly', 'edly', 'ings', 'ing', 'ies', 'ied', 'ed', 'es', 's', 'ly', 'e']) {
    if (bare.endsWith(ending) && bare.length - ending.length >= 3) {
      const rest = bare.slice(0, -ending.length)
      return ending.startsWith('ie') ? `${rest}y` : rest.replace(/([bdgklmnprt])\1$/u, '$1')
    }
  }
  return bare
}

/** The stems of a text, each once. */
export function stemsOf(text: string): ReadonlySet<string> {
  return new Set(wordsOf(text).map(stem))
}
