/** Range of a text that a page may fetch, or open on a click. */
export interface Link {
  readonly start: number
  readonly end: number
}

// Addresses; destinations and titles of Markdown; HTML tags with their attributes, also unclosed ones. None of
// them backtracks.
const forms: readonly RegExp[] = [
  /(?:[a-z\d]:\/\/|(?:mailto|tel|sms|data|javascript):|www\.|\/\/)\S*/gi,
  /\]\((?:[^()\\]|\\[^]|\\$|\([^()]*\)?)*\)?/g,
  /\]:[ \t]*\S*/g,
  /<[a-z!\u002f](?:"[^"]*"?|'[^']*'?|[^"'>])*>?/gi,
]
const longestOpening = 12

/** Finds links, images and tags in a text. */
export function linksIn(text: string): readonly Link[] {
  if (!/[:<\]/.]/.test(text)) return []
  return forms.flatMap((form) =>
    Array.from(text.matchAll(form), ({ index, 0: match }) => ({
      start: index,
      end: index + match.length,
    })),
  )
}

/** Returns the index from which a text may become a link, or its length. */
export function openLinkFrom(text: string): number {
  let open = text.length
  while (open > 0 && text.length - open < longestOpening && /[a-z:\u002f]/i.test(text[open - 1]!))
    open--
  return open > 0 && open === text.length && /[\]<]/.test(text[open - 1]!) ? open - 1 : open
}
