import type { AgentResponse, MiddlewareInput } from '../../packages/core/src/index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  jsonSchema,
  withMiddleware,
} from '../../packages/core/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { schemaValidator } from '../../packages/middleware-schema/src/index.ts'
import type { RunMode } from '../../packages/testing/src/index.ts'
import { runIn, runModes, scriptedClient } from '../../packages/testing/src/index.ts'
import { describe, expect, it } from 'vitest'

const schema = {
  type: 'object',
  properties: { answer: { type: 'integer' }, mail: { type: 'string' } },
  required: ['answer'],
} as const

/** Hands every update on as a copy. */
const copying = chatMiddleware('copying', async (context, callNext) => {
  context.transformUpdates({ transform: (update, out) => out.enqueue({ ...update }) })
  await callNext()
})
const copyingRuns = agentMiddleware('copying-runs', async (context, callNext) => {
  context.transformUpdates({ transform: (update, out) => out.enqueue({ ...update }) })
  await callNext()
})
/** Makes of the number what is none. */
const hiding = chatMiddleware('hiding', async (context, callNext) => {
  context.transformUpdates({
    transform(update, out) {
      const contents = update.contents.map((part) =>
        part.type === 'text' ? { ...part, text: part.text.replace(/\d/g, '"#"') } : part,
      )
      out.enqueue({ ...update, contents })
    },
  })
  await callNext()
})

function run(mode: RunMode, middleware: MiddlewareInput, answer: string): Promise<AgentResponse> {
  return runIn(mode, new Agent({ client: scriptedClient([answer]), middleware }))
}

describe.each(runModes)('a structured value, %s', (mode) => {
  const validator = schemaValidator({ schema: jsonSchema(schema) })
  const lists: Record<string, MiddlewareInput> = {
    'outside a vault': [validator, pii({ vault: true })],
    'inside a vault': [pii({ vault: true }), validator],
    'inside copies of updates': [copyingRuns, copying, validator],
  }
  it.each(Object.entries(lists))('survives %s', async (_place, middleware) => {
    const response = await run(mode, middleware, 'Here it is: {"answer": 42}')

    expect(response).toMatchObject({ value: { answer: 42 }, metadata: { schemaValid: true } })
  })

  it('has what the vault puts back', async () => {
    const agent = new Agent({
      client: scriptedClient([
        ({ messages }) =>
          `{"answer": 1, "mail": "${/<EMAIL_\d+>/.exec(JSON.stringify(messages))?.[0]}"}`,
      ]),
      middleware: [pii({ vault: true }), validator],
    })
    const response =
      mode === 'streamed'
        ? await agent.run('I am ada@example.org', { stream: true }).finalResponse()
        : await agent.run('I am ada@example.org')

    expect(response.value).toEqual({ answer: 1, mail: 'ada@example.org' })
    expect(JSON.parse(response.text)).toEqual(response.value)
  })

  it('is gone where the text no longer fits, and `schemaValid` says so', async () => {
    const response = await run(mode, [hiding, validator], '{"answer":42}')

    expect(response.text).toBe('{"answer":"#""#"}')
    expect(response.value).toBeUndefined()
    expect(response.metadata['schemaValid']).toBe(false)
  })

  it('that a rule of the application has refused stays away', async () => {
    const strict = schemaValidator({
      schema: jsonSchema(schema),
      refine: () => [{ message: 'not today' }],
    })
    const response = await run(mode, [copying, strict], '{"answer":42}')

    expect(response.value).toBeUndefined()
    expect(response.metadata['schemaValid']).toBe(false)
  })

  it('survives around a client without an agent', async () => {
    const client = withMiddleware(scriptedClient(['{"answer": 7}']), copying, validator)
    const response =
      mode === 'streamed'
        ? await client.getResponse('?', { stream: true }).finalResponse()
        : await client.getResponse('?')

    expect(response.value).toEqual({ answer: 7 })
  })
})
