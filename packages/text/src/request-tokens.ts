import { toJsonSchema } from '@lamella/core/authoring'
import type { ResponseFormat, ToolDefinition, Content, Message } from '@lamella/core'
import { estimateTokens } from './estimate-tokens.ts'

/** Counts the tokens of a text: an estimate, or a tokenizer's `(text) => encode(text).length`. */
export type CountTokens = (text: string) => number

/** Parts of a model call that count as input tokens. */
export interface TokenSubject {
  /** Messages of the request. */
  readonly messages: readonly Message[]
  /** System instructions. @default none */
  readonly instructions?: string | undefined
  /** Tools that are shown to the model. @default [] */
  readonly tools?: readonly ToolDefinition[] | undefined
  /** Requested format. Only a schema counts. @default none */
  readonly responseFormat?: ResponseFormat | undefined
}

/**
 * Returns the tokens of a request: texts, calls, results, media, instructions, tools, the schema of
 * the answer, and a few for each message.
 */
export function requestTokens(
  { messages, instructions, tools = [], responseFormat }: TokenSubject,
  countTokens: CountTokens = estimateTokens,
): number {
  let tokens = instructions === undefined ? 0 : countTokens(instructions)
  for (const message of messages) tokens += messageTokens(message, countTokens)
  for (const tool of tools) tokens += countTokens(describe(tool, () => toolText(tool)))
  if (typeof responseFormat === 'object') {
    const { schema } = responseFormat
    tokens += countTokens(describe(schema, () => JSON.stringify(toJsonSchema(schema))))
  }
  return tokens
}

/** How tools and schemas are shown, which are the same objects in call after call. */
const descriptions = /* @__PURE__ */ new WeakMap<object, string>()

function describe(subject: object, write: () => string): string {
  let description = descriptions.get(subject)
  if (description === undefined) descriptions.set(subject, (description = write()))
  return description
}

function toolText(tool: ToolDefinition): string {
  if (tool.type === 'hosted') return `${tool.name} ${JSON.stringify(tool.definition)}`
  return `${tool.name} ${tool.description} ${JSON.stringify(tool.jsonSchema)}`
}

/** Tokens of a message besides its text. */
const tokensPerMessage = 4

/** Approximate tokens of an image of common size. */
const tokensPerMedia = 1000

/** Returns the tokens of one message. */
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
