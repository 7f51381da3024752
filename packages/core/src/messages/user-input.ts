import { createId } from '../base/create-id.ts'
import { isObject } from '../base/plain-data.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { Content } from './content.ts'
import type { Message } from './message.ts'

/** Limits of `userInput`. */
export interface UserInputOptions {
  /**
   * Maximum number of characters of all texts together.
   * @default 100000
   */
  readonly maxChars?: number | undefined
  /**
   * Maximum number of texts and files.
   * @default 20
   */
  readonly maxParts?: number | undefined
  /**
   * Maximum number of bytes of all files together. 0 accepts no files.
   * @default 10485760
   */
  readonly maxBytes?: number | undefined
}

/**
 * Turns a value from outside, such as a parsed request body, into one message of role `user`. Accepts a
 * string, a list of parts, or an object with `text`, `parts` or `contents`. Parts are texts and files
 * (`{ type: 'data', mediaType, data }` in base64, `{ type: 'uri', uri, mediaType? }` with an https address).
 * Everything else, such as roles, ids, approvals and tool results, is refused.
 *
 * @throws LamellaError `invalid_input` that names the part and the limit, without its content
 * @example
 * const body: unknown = await request.json()
 * const stream = agent.run(userInput(body), { session, stream: true })
 * for await (const piece of stream.text()) console.log(piece)
 */
export function userInput(value: unknown, options: UserInputOptions = {}): Message {
  const { maxChars = 100_000, maxParts = 20, maxBytes = 10 * 1024 * 1024 } = options
  const parts = partsOf(value)
  if (parts.length === 0) throw invalid('it holds no text and no file')
  if (parts.length > maxParts) throw invalid(`it has ${parts.length} parts, at most ${maxParts}`)
  const contents = parts.map(toUserContent)
  const chars = contents.reduce(
    (sum, part) => sum + (part.type === 'text' ? part.text.length : 0),
    0,
  )
  if (chars > maxChars) throw invalid(`it has ${chars} characters of text, at most ${maxChars}`)
  const bytes = contents.reduce((sum, part) => sum + sizeOf(part), 0)
  if (bytes > maxBytes) throw invalid(`it has ${bytes} bytes of files, at most ${maxBytes}`)
  return { id: createId('msg'), role: 'user', contents }
}

function partsOf(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (Array.isArray(value)) return value
  if (isObject(value)) {
    if (Object.hasOwn(value, 'role') && value['role'] !== 'user') {
      throw invalid('its `role` must be `user`')
    }
    for (const field of ['text', 'parts', 'contents']) {
      if (Object.hasOwn(value, field)) return partsOf(value[field])
    }
    if (Object.hasOwn(value, 'type')) return [value]
  }
  throw invalid('it must be a string, a list of parts, or an object with `text` or `parts`')
}

function toUserContent(part: unknown, at: number): Content {
  if (typeof part === 'string') return { type: 'text', text: part }
  const { type, text, uri, data, mediaType } = isObject(part) ? part : {}
  if (type === 'text' && typeof text === 'string') return { type, text }
  const isMedia =
    typeof mediaType === 'string' && /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType)
  if (
    type === 'data' &&
    isMedia &&
    typeof data === 'string' &&
    /^[A-Za-z0-9+/]*={0,2}$/.test(data)
  ) {
    return { type, mediaType, data }
  }
  if (type === 'uri' && typeof uri === 'string' && /^https:\/\//i.test(uri) && uri.length <= 8192) {
    return isMedia ? { type, uri, mediaType } : { type, uri }
  }
  throw invalid(
    `part ${at} must be a text, base64 \`data\` with a \`mediaType\`, or an https \`uri\``,
  )
}

function sizeOf(content: Content): number {
  return content.type === 'data' ? Math.ceil((content.data.length * 3) / 4) : 0
}

function invalid(problem: string): LamellaError {
  return new LamellaError(`userInput: the input is not accepted: ${problem}`, {
    code: 'invalid_input',
  })
}
