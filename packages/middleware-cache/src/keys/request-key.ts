import type {
  ChatContext,
  ChatOptions,
  Content,
  Message,
  ResponseFormat,
  ToolDefinition,
} from '@lamella/core'
import { toJsonSchema, canonicalJson, isJson } from '@lamella/core/authoring'

/**
 * Parts of a model call that reach the provider. Parts whose keys may be in any order are canonical
 * JSON.
 */
export interface CacheRequest {
  /** Name of the client's provider. */
  readonly provider: string
  /** Configuration of the client that affects answers and is not part of a request. */
  readonly fingerprint: string | undefined
  /** Name of the model. */
  readonly model: string | undefined
  /** Instructions of the call. */
  readonly instructions: string | undefined
  /**
   * Messages: role, then author and origin if present, then contents; plain text stays as it is.
   */
  readonly messages: readonly (readonly unknown[])[]
  /** Tools that the call offers, each as canonical JSON. */
  readonly tools: readonly string[] | undefined
  /** Response format of the call, as canonical JSON. */
  readonly responseFormat: string | undefined
  /**
   * All other options except `user`, `metadata`, `transportRetries` and `cache`, as canonical JSON.
   */
  readonly options: string
}

/**
 * Describes a call without the parts that differ each time: ids and times of messages, their metadata,
 * the end user's name, retries. Returns `undefined` if a part has no JSON, such as a function.
 */
export function cacheRequest(context: ChatContext): CacheRequest | undefined {
  const { client, instructions, messages } = context
  const { model, tools, responseFormat, ...others } = context.options
  const { user: _u, metadata: _m, transportRetries: _t, cache: _c, ...options } = others
  if (!isJson(options, hasJsonForm)) return undefined
  return {
    provider: client.provider,
    fingerprint: client.fingerprint,
    model: model ?? client.model,
    instructions,
    messages: messages.map(messageKey),
    tools: tools?.map(toolKey),
    responseFormat: formatKey(responseFormat),
    options: canonicalJson(options),
  }
}

function messageKey({ role, authorName, origin, contents }: Message): readonly unknown[] {
  const key: unknown[] = [role]
  if (authorName !== undefined || origin !== undefined) {
    key.push([authorName ?? null, canonicalJson(origin ?? null)])
  }
  for (const content of contents) key.push(contentKey(content))
  return key
}

/** Puts all but plain text into a list, so that no text can imitate it. */
function contentKey(content: Content): unknown {
  return content.type === 'text' && isBare(content) ? content.text : [canonicalJson(content)]
}

/** Tells whether a content is text and nothing else. */
export function isBare(content: Content): boolean {
  for (const key in content) {
    const isUsual = key === 'type' || key === 'text'
    if (!isUsual && content[key as keyof Content] !== undefined) return false
  }
  return true
}

// Tools and schemas are immutable, and describing a schema takes longer than all the rest.
const tools = new WeakMap<ToolDefinition, string>()
const schemas = new WeakMap<object, string>()

function toolKey(tool: ToolDefinition): string {
  let key = tools.get(tool)
  if (key !== undefined) return key
  if (tool.type === 'hosted') key = canonicalJson(tool)
  else {
    const { name, description, jsonSchema, metadata } = tool
    key = canonicalJson([name, description, jsonSchema, metadata])
  }
  if (Object.isFrozen(tool)) tools.set(tool, key)
  return key
}

function formatKey(format: ResponseFormat | undefined): string | undefined {
  if (typeof format !== 'object') return format
  const { schema, ...rest } = format
  let key = schemas.get(schema)
  if (key === undefined) {
    schemas.set(schema, (key = canonicalJson(toJsonSchema(schema))))
  }
  return `${canonicalJson(rest)}${key}`
}

/** Tells whether options ask for a variety of answers. */
export function isSampled({ temperature = 0, seed }: ChatOptions): boolean {
  return temperature > 0 && seed === undefined
}

/** Returns true for bytes and objects with a `toJSON`, such as dates: different ones have different texts. */
export function hasJsonForm(value: object): boolean {
  return value instanceof Uint8Array || 'toJSON' in value
}
