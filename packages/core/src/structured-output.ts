import type { ResponseFormat } from './chat-options.ts'
import type { ChatResponse } from './chat-response.ts'
import { LamellaError } from './lamella-error.ts'
import { messageText } from './message.ts'
import type { Schema, StandardIssue } from './standard-schema.ts'
import { validate } from './validate.ts'

/** Fills in `value` where a schema was asked for and the answer fits it. What does not fit has none. */
export async function withValue<Response extends ChatResponse>(
  response: Response,
  format: ResponseFormat | undefined,
): Promise<Response> {
  if (typeof format !== 'object' || response.value !== undefined) return response
  const parsed = await parse(response, format.schema)
  return 'value' in parsed ? { ...response, value: parsed.value } : response
}

/**
 * The structured output of a response.
 * @throws LamellaError `schema_invalid`, with `issues`, if the answer is no JSON or does not fit
 */
export async function parseValue<Value>(
  response: ChatResponse,
  schema: Schema<Value>,
): Promise<Value> {
  const parsed = await parse(response, schema)
  if ('value' in parsed) return parsed.value as Value
  throw Object.assign(
    new LamellaError('the answer does not fit the schema', { code: 'schema_invalid' }),
    { issues: parsed.issues },
  )
}

type Parsed = { readonly value: unknown } | { readonly issues: readonly StandardIssue[] }

async function parse(response: ChatResponse, schema: Schema): Promise<Parsed> {
  const answer = response.messages.findLast(
    (entry) => entry.role === 'assistant' && messageText(entry) !== '',
  )
  if (answer === undefined) return { issues: [{ message: 'there is no text' }] }
  let json: unknown
  try {
    json = JSON.parse(messageText(answer))
  } catch {
    return { issues: [{ message: 'the text is not JSON' }] }
  }
  const result = await validate(schema, json)
  return result.issues === undefined ? { value: result.value } : { issues: result.issues }
}
