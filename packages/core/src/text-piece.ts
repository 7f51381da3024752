import type { Content } from './content.ts'

// They tell of the whole text: with a part of it a citation is repeated, with an edited text it and
// the provider's copy would tell what was taken out, and a signature would not fit.
const ofTheWhole = ['annotations', 'providerData', 'protected']

/** The text of a content that has one. */
export function pieceOf(content: Content): string {
  return content.type === 'function-call' ? content.arguments : (content as { text: string }).text
}

/** The same content with another text. What only fits all of its text stays if `isWhole`. */
export function withPiece(content: Content, piece: string, isWhole: boolean): Content {
  const field = content.type === 'function-call' ? 'arguments' : 'text'
  const made: Record<string, unknown> = { ...content, [field]: piece }
  if (!isWhole) for (const key of ofTheWhole) delete made[key]
  return made as unknown as Content
}
