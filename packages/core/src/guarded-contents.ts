import type { Content } from './content.ts'
import type { Finding } from './held-text.ts'
import { HeldText } from './held-text.ts'
import { pieceOf, withPiece } from './text-piece.ts'

const withText: ReadonlySet<string> = new Set(['text', 'reasoning', 'refusal', 'function-call'])

const known: ReadonlySet<string> = new Set([
  ...withText,
  'data',
  'uri',
  'function-result',
  'approval-request',
  'approval-response',
  'error',
  'usage',
  'hosted',
] satisfies (Content['type'] | string)[])

/** Everything in contents that is text, also in the results of calls, joined without separators. */
export function readableText(contents: readonly Content[]): string {
  let text = ''
  for (const content of contents) {
    if (content.type === 'function-result') text += readableText(content.contents)
    else if (withText.has(content.type)) text += pieceOf(content)
  }
  return text
}

/** Whether nobody here knows what the content is. */
export function isUnknown(content: Content): boolean {
  return content.type === 'function-result'
    ? content.contents.some(isUnknown)
    : !known.has(content.type)
}

export function isFile({ type }: Content): boolean {
  return type === 'data' || type === 'uri'
}

/** Applies findings in the readable text to the contents that it comes from. */
export function editContents(
  contents: readonly Content[],
  findings: readonly Finding[],
): readonly Content[] {
  const held = new HeldText('text', undefined, { release: 'full' })
  held.append(readableText(contents))
  held.closed = true
  if (held.due(1) === undefined) return contents
  held.apply(findings)
  let start = 0
  const edit = (content: Content): Content => {
    if (content.type === 'function-result') {
      const edited = content.contents.map(edit)
      return edited.every((part, at) => part === content.contents[at])
        ? content
        : { ...content, contents: edited }
    }
    if (!withText.has(content.type)) return content
    const piece = pieceOf(content)
    const end = start + piece.length
    const rendered = held.render(piece, start, start, end)
    start = end
    return rendered === piece ? content : withPiece(content, rendered, false)
  }
  return contents.map(edit)
}

/** Replaces files, also those in the results of calls. */
export async function mapFiles(
  contents: readonly Content[],
  replace: (file: Content) => Content | Promise<Content>,
): Promise<readonly Content[]> {
  const mapped: Content[] = []
  for (const content of contents) {
    if (isFile(content)) mapped.push(await replace(content))
    else if (content.type !== 'function-result') mapped.push(content)
    else {
      const inner = await mapFiles(content.contents, replace)
      mapped.push(inner === content.contents ? content : { ...content, contents: inner })
    }
  }
  return mapped.every((part, at) => part === contents[at]) ? contents : mapped
}
