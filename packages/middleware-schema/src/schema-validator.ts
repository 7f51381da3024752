import type { ChatContext, ChatMiddleware, ChatResponse, Message, Schema } from '@lamella/core'
import type { StandardIssue } from '@lamella/core/authoring'
import {
  formatIssues,
  defineChatMiddleware,
  reporter,
  unlessAborted,
} from '@lamella/core/authoring'
import { LamellaError, text } from '@lamella/core'
import { isRefusal, replaceAnswer, textOfAnswer } from './answer-text.ts'
import { PartialReader } from './partial-values.ts'
import type { LocalRepair, Reading } from './read-answer.ts'
import { readAnswer } from './read-answer.ts'
import { repairCalls } from './repair-calls.ts'
import type { SchemaEvent, SchemaValidatorOptions } from './schema-options.ts'
import { checkSchemaOptions } from './schema-options.ts'

/**
 * Checks the model's final answer against a schema, repairs it if it does not match, and sets
 * `response.value`.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { schemaValidator } from '@lamella/middleware-schema'
 * import { scriptedClient } from '@lamella/testing'
 * import { z } from 'zod'
 *
 * const weather = z.object({ city: z.string(), degrees: z.number() })
 * const client = scriptedClient(['Sure! {city: "Rome", degrees: 21,}'])
 * const agent = new Agent({ client, middleware: schemaValidator({ schema: weather }) })
 *
 * const response = await agent.run('How is Rome?')
 * console.log(response.value) // { city: 'Rome', degrees: 21 }
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function schemaValidator<S extends Schema = Schema>(
  options: SchemaValidatorOptions<S> = {},
): ChatMiddleware {
  checkSchemaOptions(options)
  const { name = 'schema', mode, onFailure = 'raw', onPartial, refine } = options
  const { repair = ['extract', 'json-repair'], maxRepairChars = 4000 } = options
  const { reaskMessage = demand, reaskClient, reaskModel, toolCalls = false } = options
  const repairs = repair.filter((step): step is LocalRepair => step !== 're-ask')
  const maxReasks = repair.includes('re-ask') ? (options.maxReasks ?? 1) : 0
  const report = reporter('schema', options.onEvent)

  const read = async (response: ChatResponse, schema: Schema): Promise<Reading> => {
    if (isRefusal(response)) return { issues: [{ message: 'the model refused' }] }
    const words = textOfAnswer(response)
    const allowed = repairs.filter(isSafeFor(response))
    return readAnswer(words, { schema, repairs: allowed, refine, maxRepairChars })
  }

  const tidyCalls = async (context: ChatContext, response: ChatResponse): Promise<void> => {
    if (!toolCalls) return
    const allowed = repairs.filter(isSafeFor(response))
    const { tools = [] } = context.options
    const { messages, repaired } = await repairCalls(
      response.messages,
      tools,
      allowed,
      maxRepairChars,
    )
    if (repaired === 0) return
    const action = mode === 'shadow' ? 'none' : 'repaired'
    const event = {
      middleware: name,
      of: 'arguments',
      valid: true,
      issues: repaired,
      reasks: 0,
    } as const
    report(context.run, { ...event, action })
    if (mode !== 'shadow') context.result = { ...response, messages }
  }

  return defineChatMiddleware('schema', options, async (context, callNext) => {
    const { responseFormat } = context.options
    const asked = typeof responseFormat === 'object' ? responseFormat.schema : undefined
    const schema = options.schema ?? asked
    if (schema !== undefined && asked === undefined && mode !== 'shadow') {
      context.options = { ...context.options, responseFormat: { schema } }
    }
    if (schema !== undefined && onPartial !== undefined) watch(context, onPartial)
    const { messages } = context

    for (let reasks = 0; ; reasks++) {
      const response = await callNext()
      if (response.functionCalls.length > 0) return tidyCalls(context, response)
      if (schema === undefined) return
      // The application's schemas and rules may be slow.
      const reading = await unlessAborted(context.signal, read(response, schema))
      const action = actionFor(reading, reasks < maxReasks && !isRefusal(response))
      const { issues } = reading
      const by = issues === undefined ? reading.by : undefined
      const outcome = {
        middleware: name,
        of: 'answer',
        valid: issues === undefined,
        by,
        reasks,
      } as const
      report(context.run, { ...outcome, issues: issues?.length ?? 0, action })
      if (mode === 'shadow') return
      if (issues === undefined) {
        const answer =
          action === 'repaired' &&
          replaceAnswer(response, JSON.stringify(reading.json), context.run)
        return note(context, response, answer, { valid: true, value: reading.value })
      }
      context.metadata['schemaIssues'] = issues
      if (action !== 're-ask') return fail(context, response, issues, reasks)
      context.run.recordAttempt({ status: 'failed', reason: 'schema_invalid' })
      const id = context.run.ids.createId('msg')
      const reask: Message = { id, role: 'user', contents: [text(reaskMessage(issues))] }
      context.messages = [...messages, ...response.messages, reask]
      if (reaskClient !== undefined) context.client = reaskClient
      if (reaskModel !== undefined) context.options = { ...context.options, model: reaskModel }
    }
  })

  function actionFor(reading: Reading, mayReask: boolean): SchemaEvent['action'] {
    if (mode === 'shadow') return 'none'
    if (reading.issues === undefined) return reading.by === 'strict' ? 'none' : 'repaired'
    if (mayReask) return 're-ask'
    return onFailure === 'raw' ? 'none' : onFailure === 'throw' ? 'throw' : 'fallback'
  }

  function fail(
    context: ChatContext,
    response: ChatResponse,
    issues: readonly StandardIssue[],
    reasks: number,
  ): void {
    if (onFailure === 'raw') return note(context, response, false, { valid: false })
    if (onFailure === 'throw') {
      const error = new LamellaError(`${name}: the answer does not fit the schema`, {
        code: 'schema_invalid',
      })
      // Not enumerable: the application may read the model's text, logs must not print it.
      Object.defineProperty(error, 'response', { value: response })
      throw Object.assign(error, { issues, reasks })
    }
    const { fallback } = onFailure
    const value: unknown = isFunction(fallback) ? fallback(issues) : fallback
    const json: string | undefined = JSON.stringify(value)
    const answer = json !== undefined && replaceAnswer(response, json, context.run)
    note(context, response, answer, { valid: false, value })
  }
}

/** Records the result on the response, for middleware and for the caller. */
function note(
  context: ChatContext,
  response: ChatResponse,
  answer: readonly Message[] | false,
  { valid, value }: { readonly valid: boolean; readonly value?: unknown },
): void {
  context.metadata['schemaValid'] = valid
  if (value !== undefined) context.metadata['parsed'] = value
  // Left by an answer that the model had to repeat.
  if (valid) delete context.metadata['schemaIssues']
  context.result = {
    ...response,
    messages: answer === false ? response.messages : answer,
    metadata: { ...response.metadata, schemaValid: valid },
    value,
  }
}

/** Returns the repairs that may be tried: an answer that was cut off is not completed by a guess. */
function isSafeFor({ finishReason }: ChatResponse): (step: LocalRepair) => boolean {
  return (step) => step !== 'json-repair' || finishReason !== 'length'
}

function watch(
  context: ChatContext,
  onPartial: NonNullable<SchemaValidatorOptions['onPartial']>,
): void {
  let reader = new PartialReader()
  context.transformUpdates({
    start() {
      reader = new PartialReader()
    },
    transform(update, controller) {
      controller.enqueue(update)
      const value = reader.read(update)
      if (value === undefined) return
      try {
        onPartial(value, context)
      } catch {
        // Errors of an observer do not fail the call.
      }
    },
  })
}

function demand(issues: readonly StandardIssue[]): string {
  return [
    `Your last answer does not fit the required JSON schema: ${formatIssues(issues)}.`,
    'Answer again, completely, with JSON that fits and nothing else.',
  ].join('\n')
}

function isFunction(value: unknown): value is (issues: readonly StandardIssue[]) => unknown {
  return typeof value === 'function'
}
