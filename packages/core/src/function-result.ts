import type { Content, FunctionError } from './content.ts'
import { text } from './content.ts'
import { isObject } from './is-object.ts'

/** What a tool call came to: contents that the model reads, and the error if there was one. */
export interface FunctionResult {
  readonly contents: readonly Content[]
  /** What `execute` returned, as it was. Not serialised. */
  readonly value?: unknown
  readonly error?: FunctionError | undefined
}

/**
 * Turns what a tool returned into what the model reads. Nothing is an empty text, a string its
 * text, a text, data or uri part itself; a list that has such a part is a list of parts; all else
 * is JSON text, or `String(value)` where JSON cannot say it. A `FunctionResult` is taken as it is.
 * Never throws.
 */
export function toFunctionResult(value: unknown): FunctionResult {
  if (typeof value !== 'object') return { contents: [text(textFor(value))], value }
  try {
    if (isFunctionResult(value)) return value
    const parts: unknown[] = Array.isArray(value) && value.some(isPart) ? [...value] : [value]
    return { contents: parts.map((part) => (isPart(part) ? part : text(textFor(part)))), value }
  } catch {
    return { contents: [text(textFor(value))], value }
  }
}

/**
 * The result of a call that gave none. The model reads a sentence that is fixed by `code`, followed
 * by `detail`; `message` is for the application.
 */
export function errorResult(
  code: FunctionError['code'],
  message: string,
  detail?: string,
): FunctionResult {
  return failure(code, message, [sentences[code], detail].filter(Boolean).join(' '))
}

/** The result of a call to a tool that there is none of. */
export function unknownToolResult(name: string): FunctionResult {
  const message = `Requested function "${name}" not found.`
  return failure('unknown_tool', message, message)
}

function failure(code: FunctionError['code'], message: string, sentence: string): FunctionResult {
  return { contents: [text(`Error: ${sentence}`)], error: { code, message } }
}

const sentences: Readonly<Record<FunctionError['code'], string>> = {
  unknown_tool: 'Requested function not found.',
  tool_failed: 'Function failed.',
  invalid_arguments: 'Argument parsing failed.',
  timeout: 'Function timed out.',
  rejected: 'Tool call invocation was rejected by user.',
  denied: 'Tool call invocation was denied by policy.',
  budget: 'Tool call budget is used up.',
  cancelled: 'Tool call invocation was cancelled.',
}

/** The parts that a tool may return. All others belong to the model or to the loop. */
function isPart(value: unknown): value is Content {
  if (!isObject(value)) return false
  const { type, text: words, uri, mediaType, data } = value
  return (
    (type === 'text' && typeof words === 'string') ||
    (type === 'uri' && typeof uri === 'string') ||
    (type === 'data' &&
      typeof mediaType === 'string' &&
      (typeof data === 'string' || data instanceof Uint8Array))
  )
}

function isFunctionResult(value: unknown): value is FunctionResult {
  if (!isObject(value)) return false
  const { contents, value: _value, error, ...others } = value as Partial<FunctionResult>
  return (
    Array.isArray(contents) &&
    contents.every(isPart) &&
    (error === undefined ||
      (typeof error?.code === 'string' && typeof error.message === 'string')) &&
    Object.keys(others).length === 0
  )
}

function textFor(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  for (const write of [JSON.stringify, String] as const) {
    try {
      const written: string | undefined = write(value)
      if (written !== undefined) return written
    } catch {
      // The next one may.
    }
  }
  return `[${typeof value}]`
}
