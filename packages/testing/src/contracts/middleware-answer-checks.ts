import type { ChatResponse, Schema } from '@lamella/core'
import type { ChatResponseInit } from '@lamella/core/authoring'
import type { MiddlewareRun } from '../scripted/run-middleware.ts'
import { runChatMiddleware } from '../scripted/run-middleware.ts'
import { demand } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import type { MiddlewareSubject } from './middleware-subject.ts'
import { withTime } from './middleware-trial.ts'

/** Checks the answers that a middleware gives by itself, such as those of a cache. */
export function middlewareAnswerChecks(make: () => MiddlewareSubject): readonly ContractCheck[] {
  /** Asks the same twice. Resolves to the second run, if the middleware answered it without the model. */
  const answered = async (
    reply: ChatResponseInit | string,
    schemas: readonly [Schema?, Schema?] = [],
  ): Promise<readonly [first: ChatResponse, second: ChatResponse] | undefined> => {
    const { clock, middleware } = make()
    const runs: MiddlewareRun<ChatResponse, unknown>[] = []
    for (const at of [0, 1]) {
      const schema = schemas[at]
      const options = schema && { responseFormat: { schema } }
      const run = runChatMiddleware(middleware, { replies: () => reply, options })
      // oxlint-disable-next-line no-await-in-loop
      runs.push(await withTime(clock, run))
    }
    const [first, second] = runs
    const isOwn = second?.innerCalls.length === 0 && second.response?.status === 'completed'
    return isOwn && first?.result && second.result ? [first.result, second.result] : undefined
  }

  return [
    {
      name: 'chat: gives each answer an id of its own',
      run: async () => {
        const both = await answered('The answer.')
        if (both === undefined) return
        const [first, second] = both
        demand(second.id !== first.id, 'an answer without the model must have an id of its own')
        const ids = new Set(first.messages.map(({ id }) => id))
        const isRepeated = second.messages.some(({ id }) => id !== undefined && ids.has(id))
        demand(!isRepeated, 'its messages must have ids of their own')
      },
    },
    {
      name: 'chat: gives no incomplete answer again',
      run: async () => {
        for (const finishReason of ['length', 'content-filter', 'error'] as const) {
          // oxlint-disable-next-line no-await-in-loop
          const both = await answered({ messages: 'The answer is', finishReason })
          demand(
            both === undefined,
            `an answer that ended by ${finishReason} must not be given again`,
          )
        }
      },
    },
    {
      name: 'chat: gives no value that does not fit the schema of the call',
      run: async () => {
        const both = await answered('{"cents":5}', [
          schemaOf(() => true),
          schemaOf((cents) => cents >= 100),
        ])
        const value = both?.[1].value
        demand(value === undefined, 'a value must fit the schema of the call that gets it')
      },
    },
  ]
}

/** A schema of amounts with one JSON Schema and a rule that this cannot express. */
function schemaOf(fits: (cents: number) => boolean): Schema {
  return {
    '~standard': {
      version: 1,
      vendor: 'contract',
      validate: (value) => {
        const { cents } = Object(value) as { readonly cents?: unknown }
        return typeof cents === 'number' && fits(cents)
          ? { value: { cents } }
          : { issues: [{ message: 'no such amount' }] }
      },
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  }
}

const jsonSchema = {
  type: 'object',
  properties: { cents: { type: 'number' } },
  required: ['cents'],
}
