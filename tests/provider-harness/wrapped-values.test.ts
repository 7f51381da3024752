import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Schema } from '../../packages/core/src/index.ts'
import { Agent } from '../../packages/core/src/index.ts'
import { runIn, runModes } from '../../packages/testing/src/index.ts'
import { RawServer } from '../../packages/testing/src/raw-server.ts'
import { providers } from './swap-providers.ts'

// OpenAI and others take only an object at the top of a response format.

let server: RawServer
beforeAll(async () => {
  server = await RawServer.start()
})
afterAll(() => server.stop())

interface Kind {
  readonly name: string
  readonly schema: Schema
  readonly value: unknown
}

const list = z.array(z.object({ color: z.string() }))
const union = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('a'), a: z.number() }),
  z.object({ kind: z.literal('b') }),
])
const kinds: readonly Kind[] = [
  { name: 'a list', schema: list, value: [{ color: 'red' }, { color: '}' }] },
  { name: 'a union', schema: union, value: { kind: 'a', a: 1 } },
  { name: 'a text', schema: z.enum(['yes', 'no']), value: 'yes' },
]
const cases = providers.flatMap((provider) =>
  kinds.flatMap((kind) => runModes.map((mode) => ({ provider, kind, mode }))),
)

describe.each(cases)('$kind.name of $provider.name, $mode', ({ provider, kind, mode }) => {
  test('is asked for as a property of an object where it must be, and is the value', async () => {
    let schema: unknown
    server.handler = (response, request) => {
      const { body } = request
      schema =
        body.text?.format?.schema ??
        body.response_format?.json_schema?.schema ??
        body.output_config?.format?.schema
      const answered = schema === undefined ? kind.value : { value: kind.value }
      const said = { mark: '', model: provider.model, round: 0, text: JSON.stringify(answered) }
      return provider.reply(said)(response, request)
    }
    const agent = new Agent({
      client: provider.open(server.url),
      options: { responseFormat: { schema: kind.schema } },
    })

    const { value, text } = await runIn(mode, agent, { input: 'Go.' })

    expect(value).toEqual(kind.value)
    expect(text).toBe(JSON.stringify(kind.value))
    const takesAnyType = provider.name.startsWith('Google') || provider.name === 'Vertex AI'
    const wrapped = expect.objectContaining({ type: 'object', required: ['value'] }) as object
    expect(schema).toEqual(takesAnyType ? undefined : wrapped)
  })
})
