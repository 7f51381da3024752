import { isObject } from '../base/plain-data.ts'
import { toJson } from '../base/json.ts'
import { messageOf } from '../base/lamella-error.ts'
import type { Content, FunctionError } from './content.ts'
import { text } from './content.ts'

/** Result of a tool call: contents that the model reads, and the error if there was one. */
export interface FunctionResult {
  /** Content that the model reads. */
  readonly contents: readonly Content[]
  /** Value that `execute` returned, as JSON. */
  readonly value?: unknown
  /** Error of the call, if it failed. */
  readonly error?: FunctionError | undefined
}

/**
 * Converts a tool's return value to content for the model. `undefined` and `null` become an empty
 * text, a string becomes a text, and text, data and uri parts stay as they are, alone or in a list.
 * Other values become JSON text. What JSON cannot hold is converted, for the model and for `value`: a bigint
 * to its digits, a Map to an object (a list of pairs, if a key is no string), a Set to a list, an Error to its
 * name and message, bytes to base64, other typed arrays to lists, and a reference to a value around it to
 * `[Circular]`. A value that throws, or nests too deeply, becomes the result of a failed call. A
 * `FunctionResult` is returned as it is, if its `value` is JSON. Never throws.
 */
export function toFunctionResult(given: unknown): FunctionResult {
  if (typeof given === 'string') return { contents: [{ type: 'text', text: given }], value: given }
  try {
    if (isFunctionResult(given)) {
      const value = toJson(given.value)
      return value === given.value ? given : { ...given, value }
    }
    const value = toJson(given)
    if (!Array.isArray(given) || !given.some(isPart))
      return { contents: [isPart(given) ? given : text(textFor(value))], value }
    const parts = [...(given as unknown[])]
    return {
      contents: parts.map((part) => (isPart(part) ? part : text(textFor(toJson(part))))),
      value,
    }
  } catch (error) {
    return errorResult('tool_failed', `the result cannot be converted to JSON: ${messageOf(error)}`)
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
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
