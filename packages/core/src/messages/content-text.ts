import type { Content } from './content.ts'

// They tell of the whole text: with a part of it a citation is repeated, with an edited text it and
// the provider's copy would tell what was taken out, and a signature would not fit.
const ofTheWhole = ['annotations', 'providerData', 'protected']

/** The field that holds the text of a content, if it has one. */
export function textField({ type }: Content): 'text' | 'arguments' | undefined {
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
