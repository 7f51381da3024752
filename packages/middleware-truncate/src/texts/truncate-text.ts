/** How a text that is too long is made shorter. */
export type TruncateStrategy = 'head-tail' | 'head' | 'json-aware'

/**
 * The text with its middle, or its end, left out and `marker` in that place, so that it has at most
 * `maxChars` characters. No character is cut in half.
 */
export function truncateText(
  text: string,
  {
    maxChars,
    marker,
    strategy,
  }: {
    readonly maxChars: number
    readonly marker: string
    readonly strategy: 'head-tail' | 'head'
  },
): string {
  if (text.length <= maxChars) return text
  const room = Math.max(0, maxChars - marker.length)
  const head = strategy === 'head' ? room : Math.ceil((room * 2) / 3)
  return `${start(text, head)}${marker}${end(text, room - head)}`.slice(0, Math.max(maxChars, 0))
}

function start(text: string, length: number): string {
  // Half of a pair of surrogates is no character.
  const cuts = isHigh(text.charCodeAt(length - 1)) && isLow(text.charCodeAt(length))
  return text.slice(0, cuts ? length - 1 : length)
}

function end(text: string, length: number): string {
  const from = text.length - length
  const cuts = isLow(text.charCodeAt(from)) && isHigh(text.charCodeAt(from - 1))
  return text.slice(cuts ? from + 1 : from)
}

function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000
}
