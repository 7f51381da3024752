import { LamellaError } from '../base/lamella-error.ts'
import type { Schema, StandardResult } from '../base/standard-schema.ts'
import { checkSchema } from '../base/standard-schema.ts'
import { validate } from '../base/validate.ts'
import type { ResponseFormat } from '../contract/chat-options.ts'
import type { ChatResponse } from '../messages/chat-response.ts'
import { messageText } from '../messages/message.ts'

/**
 * Fills in `value` where a schema was asked for and the answer fits it, as it is here.
 * `metadata.schemaValid` is the verdict of a middleware that judges more than the schema: it becomes false
 * when the text was changed so that it no longer fits.
 */
export async function withValue<Response extends ChatResponse>(
  response: Response,
  format: ResponseFormat | undefined,
): Promise<Response> {
  const { value, metadata } = response
  const { schemaValid } = metadata
  if (typeof format !== 'object' || value !== undefined || schemaValid === false) return response
  const parsed = await parse(response, format.schema)
  if (parsed.issues === undefined) return { ...response, value: parsed.value }
  return schemaValid === true
    ? { ...response, metadata: { ...metadata, schemaValid: false } }
    : response
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
  if (parsed.issues === undefined) return parsed.value as Value
  throw Object.assign(
    new LamellaError('the answer does not fit the schema', { code: 'schema_invalid' }),
    { issues: parsed.issues },
  )
}

async function parse(response: ChatResponse, schema: Schema): Promise<StandardResult<unknown>> {
  checkSchema('responseFormat: `schema`', schema)
  const answers = response.messages.filter(({ role }) => role === 'assistant').map(messageText)
  const answer = answers.findLast((words) => words !== '')
  try {
    return await validate(schema, JSON.parse(answer ?? ''))
  } catch {
    const message = answer === undefined ? 'there is no text' : 'the text is not JSON'
    return { issues: [{ message }] }
  }
}
