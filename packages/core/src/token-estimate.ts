import type { Content } from './content.ts'
import type { Message } from './message.ts'
import { toJsonSchema } from './standard-schema.ts'
import type { ToolDefinition } from './tool.ts'

/** Counts the tokens of a text: an estimate, or a tokenizer's `(text) => encode(text).length`. */
export type CountTokens = (text: string) => number

/** Estimates the tokens of a text from the kinds of its characters, in one pass. */
export function estimateTokens(text: string): number {
  let quarters = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    // CJK, Hangul and what is written as surrogate pairs cost about a token each.
    quarters += code < 0x80 ? 1 : code < 0x2e80 ? 2 : 3
  }
  return Math.ceil(quarters / 4)
}

/** What of a model call counts as its input. */
export interface TokenSubject {
  readonly messages: readonly Message[]
  readonly instructions?: string | undefined
  readonly tools?: readonly ToolDefinition[] | undefined
}

/** The tokens of a request: texts, calls, results, instructions, tools, and a few for each message. */
export function requestTokens(
  { messages, instructions, tools = [] }: TokenSubject,
  countTokens: CountTokens = estimateTokens,
): number {
  let tokens = instructions === undefined ? 0 : countTokens(instructions)
  for (const message of messages) tokens += messageTokens(message, countTokens)
  for (const tool of tools) {
    const {
      name,
      description = '',
      parameters,
    } = tool as Partial<{
      name: string
      description: string
      parameters: Parameters<typeof toJsonSchema>[0]
    }>
    const schema = parameters === undefined ? '' : JSON.stringify(toJsonSchema(parameters))
    tokens += countTokens(`${name ?? ''} ${description} ${schema}`)
  }
  return tokens
}

/** What a message costs besides its text. */
const tokensPerMessage = 4
/** What providers charge for an image of common size, roughly. */
const tokensPerMedia = 1000

/** The tokens of one message. */
export function messageTokens(
  { contents }: Message,
  countTokens: CountTokens = estimateTokens,
): number {
  return contents.reduce(
    (sum, content) => sum + contentTokens(content, countTokens),
    tokensPerMessage,
  )
}

function contentTokens(content: Content, countTokens: CountTokens): number {
  switch (content.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return countTokens(content.text)
    case 'function-call':
      return countTokens(`${content.name} ${content.arguments}`)
    case 'function-result':
      return content.contents.reduce((sum, part) => sum + contentTokens(part, countTokens), 4)
    case 'data':
    case 'uri':
      return tokensPerMedia
    default:
      return 0
  }
}
