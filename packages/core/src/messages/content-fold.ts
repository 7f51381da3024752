import type { IdSource } from '../base/create-id.ts'
import type { Content } from './content.ts'

export type Fields = Content & Readonly<Record<string, unknown>>

/** One part of a message while its pieces arrive. */
export interface ContentFold {
  /** All fields; its text is outdated once fragments were added. */
  content: Content
  text: string
  /** Text not yet joined to `text`, and its number of fragments. */
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

/** Adds a fragment to the part. A hosted part is replaced as a whole. */
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
export function finishContent(part: ContentFold, { createId }: IdSource): Content {
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

/** Returns true if the part holds nothing that a reader or a provider needs. */
export function isEmpty(part: ContentFold): boolean {
  return (
    textField(part.content) === 'text' &&
    joinPieces(part) === '' &&
    !whatHangsOn.some((key) => (part.content as Fields)[key])
  )
}

const whatHangsOn = ['annotations', 'metadata', 'providerData', 'id', 'protected']

/** Returns true if two fields are equal or one of them is unknown. */
export function agree(left: unknown, right: unknown): boolean {
  return left === right || (left ?? '') === '' || (right ?? '') === ''
}

/**
 * Merges `news` into `known`: annotations are appended, metadata is merged, other fields are
 * replaced.
 */
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

/** Returns true if `next` continues the text of `content`. */
export function continues(content: Content, next: Content): boolean {
  return (
    content.type === next.type &&
    textField(next) === 'text' &&
    agree((content as Fields)['id'], (next as Fields)['id']) &&
    agree((content as Fields)['kind'], (next as Fields)['kind'])
  )
}

// They tell of the whole text: with a part of it a citation is repeated, with an edited text it and
// the provider's copy would tell what was taken out, and a signature would not fit.
const ofTheWhole = ['annotations', 'providerData', 'protected']

/** The field that holds the text of a content, if it has one. */
function textField({ type }: Content): 'text' | 'arguments' | undefined {
  if (type === 'text' || type === 'reasoning' || type === 'refusal') return 'text'
  return type === 'function-call' ? 'arguments' : undefined
}

/** The text of a content, if it has one. */
export function pieceOf(content: Content): string {
  const { type } = content
  if (type === 'text' || type === 'reasoning' || type === 'refusal') return content.text
  return type === 'function-call' ? content.arguments : ''
}

/** The same content with another text. What only fits all of its text stays if `isWhole`. */
export function withPiece(content: Content, piece: string, isWhole: boolean): Content {
  const made: Record<string, unknown> = { ...content, [textField(content)!]: piece }
  if (!isWhole) for (const key of ofTheWhole) delete made[key]
  return made as unknown as Content
}
