import { isObject } from '../base/is-object.ts'
import type { Content, FunctionError } from './content.ts'
import { text } from './content.ts'

/** Result of a tool call: contents that the model reads, and the error if there was one. */
export interface FunctionResult {
  /** Content that the model reads. */
  readonly contents: readonly Content[]
  /** Value that `execute` returned, unchanged. Not serialized. */
  readonly value?: unknown
  /** Error of the call, if it failed. */
  readonly error?: FunctionError | undefined
}

/**
 * Converts a tool's return value to content for the model. `undefined` and `null` become an empty
 * text, a string becomes a text, and text, data and uri parts stay as they are, alone or in a list.
 * Other values become JSON text, or `String(value)` if JSON cannot represent them. A
 * `FunctionResult` is returned unchanged. Never throws.
 */
export function toFunctionResult(value: unknown): FunctionResult {
  if (typeof value === 'string') return { contents: [{ type: 'text', text: value }], value }
  try {
    if (isFunctionResult(value)) return value
    const parts: unknown[] = Array.isArray(value) && value.some(isPart) ? [...value] : [value]
    return { contents: parts.map((part) => (isPart(part) ? part : text(textFor(part)))), value }
  } catch {
    return { contents: [text(textFor(value))], value }
  }
}

/**
 * Makes the result of a failed call. The model reads a fixed sentence for `code`, followed by
 * `detail`; `message` is for the application.
 */
export function errorResult(
  code: FunctionError['code'],
  message: string,
  detail?: string,
): FunctionResult {
  return failure(code, message, [sentences[code], detail].filter(Boolean).join(' '))
}

/** Makes the result of a call to a tool that does not exist. */
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
  uncertain: 'Function may have run, its result is unknown.',
  withheld: 'Function ran, its result is withheld.',
}

/** Returns true for parts that a tool may return. Other parts belong to the model or the loop. */
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
