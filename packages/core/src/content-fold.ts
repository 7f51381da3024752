import type { Content } from './content.ts'
import { createId } from './create-id.ts'
import { pieceOf, textField } from './text-piece.ts'

export type Fields = Content & Readonly<Record<string, unknown>>

/** One part of a message while its pieces arrive. */
export interface ContentFold {
  /** All but the text, which is stale here once pieces were added. */
  content: Content
  text: string
  /** What is to be added to the text, and of how many pieces it is. */
  recent: string
  count: number
  /** The id that is given to a call without one. */
  callId?: string
}

// A string grown piece by piece is a tree of a node each; joined this often, it is its text only.
const mostPieces = 1024

export function foldContent(content: Content): ContentFold {
  return { content, text: pieceOf(content), recent: '', count: 0 }
}

/** Adds what came of the part. Hosted work is told as a whole each time. */
export function mergeContent(part: ContentFold, next: Content): void {
  if (next.type === 'hosted') part.content = next
  else {
    appendText(part, pieceOf(next))
    part.content = merged(part.content, { ...next, text: undefined, arguments: undefined })
  }
}

export function appendText(part: ContentFold, piece: string): void {
  part.recent += piece
  if (++part.count > mostPieces) joinPieces(part)
}

/** The part as it is so far: the content that it began with, if nothing was added. */
export function finishContent(part: ContentFold): Content {
  const text = joinPieces(part)
  const { content } = part
  const isSame = text === pieceOf(content)
  if (content.type === 'function-call') {
    const { index, ...call } = content
    if (isSame && index === undefined && call.callId) return content
    const callId = call.callId || (part.callId ??= createId('call'))
    return { ...call, callId, arguments: text }
  }
  return isSame ? content : ({ ...content, text } as Content)
}

/** Whether there is nothing in it that a reader or a provider could miss. */
export function isEmpty(part: ContentFold): boolean {
  return (
    textField(part.content) === 'text' &&
    joinPieces(part) === '' &&
    !whatHangsOn.some((key) => (part.content as Fields)[key])
  )
}

const whatHangsOn = ['annotations', 'metadata', 'providerData', 'id', 'protected']

/** Whether two fields can be told of the same thing: equal, or one of them not known. */
export function agree(left: unknown, right: unknown): boolean {
  return left === right || (left ?? '') === '' || (right ?? '') === ''
}

/** `known` with what `news` tells: annotations are collected, metadata is merged, the rest is replaced. */
export function merged<T extends object>(
  known: T,
  news: object,
  keys: string[] = Object.keys(news),
): T {
  let all = known as Record<string, unknown>
  for (const key of keys) {
    let value = (news as Record<string, unknown>)[key]
    const had = all[key]
    if (value == null || value === had || (value === '' && had != null)) continue
    if (key === 'annotations') value = [...((had as unknown[]) ?? []), ...(value as unknown[])]
    if (key === 'metadata') value = { ...(had as object), ...(value as object) }
    // Not assigned, which is something else for a key that is named `__proto__`.
    all = { ...all, [key]: value }
  }
  return all as T
}

function joinPieces(part: ContentFold): string {
  // Engines flatten a string to read from it.
  part.recent.charCodeAt(0)
  part.text += part.recent
  part.recent = ''
  part.count = 0
  return part.text
}

/** Whether `next`, right after `content`, is more of the same text. */
export function continues(content: Content, next: Content): boolean {
  return (
    content.type === next.type &&
    textField(next) === 'text' &&
    agree((content as Fields)['id'], (next as Fields)['id']) &&
    agree((content as Fields)['kind'], (next as Fields)['kind'])
  )
}
