import type { Content, FunctionError } from './content.ts'
import { text } from './content.ts'

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
  try {
    if (isFunctionResult(value)) return value
    const parts: unknown[] = Array.isArray(value) && value.some(isPart) ? [...value] : [value]
    return { contents: parts.map((part) => (isPart(part) ? part : text(textFor(part)))), value }
  } catch {
    return { contents: [text(stringFor(value))], value }
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
  return failure(code, message, detail ? `${sentences[code]} ${detail}` : sentences[code])
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
  if (typeof value !== 'object' || value === null) return false
  const part = value as Record<string, unknown>
  switch (part['type']) {
    case 'text':
      return typeof part['text'] === 'string'
    case 'uri':
      return typeof part['uri'] === 'string'
    case 'data':
      return (
        typeof part['mediaType'] === 'string' &&
        (typeof part['data'] === 'string' || part['data'] instanceof Uint8Array)
      )
    default:
      return false
  }
}

function isFunctionResult(value: unknown): value is FunctionResult {
  if (typeof value !== 'object' || value === null) return false
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
  try {
    return JSON.stringify(value) ?? stringFor(value)
  } catch {
    return stringFor(value)
  }
}

function stringFor(value: unknown): string {
  try {
    return String(value)
  } catch {
    return `[${typeof value}]`
  }
}
