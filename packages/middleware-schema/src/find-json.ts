/** Maximum number of candidates in one text. */
const maxFound = 20
const maxSpans = 1000
const fence = '```'

/** Finds the parts of a text that look like JSON: first in code fences, then between brackets. */
export function findJson(text: string): readonly string[] {
  return [...fenced(text), ...enclosed(text)].slice(0, maxFound)
}

/**
 * Finds candidates for broken JSON: from the first opening bracket to the end of the text, and to the last
 * closing bracket. Broken JSON is either cut off or followed by other words.
 */
export function findBroken(text: string): readonly string[] {
  const [inside = text] = fenced(text)
  const from = inside.search(/[[{]/)
  if (from < 0) return []
  const open = inside.slice(from)
  const end = Math.max(open.lastIndexOf('}'), open.lastIndexOf(']')) + 1
  return end > 0 && end < open.length ? [open, open.slice(0, end)] : [open]
}

function fenced(text: string): readonly string[] {
  const blocks: string[] = []
  let at = text.indexOf(fence)
  while (at >= 0) {
    const lineEnd = text.indexOf('\n', at)
    if (lineEnd < 0) break
    const end = text.indexOf(fence, lineEnd)
    blocks.push(text.slice(lineEnd + 1, end < 0 ? undefined : end))
    if (end < 0) break
    at = text.indexOf(fence, end + fence.length)
  }
  return blocks
}

/** Finds the outermost pairs of brackets, longest first: the answer is longer than a quotation beside it. */
function enclosed(text: string): readonly string[] {
  const spans: string[] = []
  const opening = /[[{]/g
  // A bracket that is never closed costs a scan to the end.
  for (let unclosed = 0; unclosed < maxFound && spans.length < maxSpans; ) {
    const start = opening.exec(text)?.index
    if (start === undefined) break
    const end = closing(text, start)
    if (end === undefined) unclosed++
    else {
      spans.push(text.slice(start, end))
      opening.lastIndex = end
    }
  }
  return spans.toSorted((left, right) => right.length - left.length)
}

function closing(text: string, start: number): number | undefined {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (quoted) {
      if (char === '\\') at++
      else if (char === '"') quoted = false
    } else if (char === '"') quoted = true
    else if (char === '{' || char === '[') depth++
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1
  }
  return undefined
}
