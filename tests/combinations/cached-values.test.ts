import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Agent } from '../../packages/core/src/index.ts'
import { cache } from '../../packages/middleware-cache/src/index.ts'
import { schemaValidator } from '../../packages/middleware-schema/src/index.ts'
import { scriptedClient } from '../../packages/testing/src/index.ts'

describe('an answer with a schema', () => {
  const cents = z.object({ cents: z.number() })
  const euros = cents.refine((price) => price.cents >= 100, 'at least one euro')

  test('is a hit only for a call whose schema it fits', async () => {
    const shared = cache()
    const client = scriptedClient(['{"cents":5}', '{"cents":500}'])
    const ask = (schema: typeof cents) =>
      new Agent({ client, middleware: [shared, schemaValidator()] }).run('How much?', {
        options: { responseFormat: { schema } },
      })
    await ask(cents)

    const [strict, loose] = [await ask(euros), await ask(cents)]

    expect([strict.value, loose.value]).toEqual([{ cents: 500 }, { cents: 500 }])
    expect(loose.metadata).toMatchObject({ schemaValid: true, cache: { hit: true } })
    expect(client.requests).toHaveLength(2)
  })

  test('has the value that the schema of the hit makes', async () => {
    const shared = cache()
    const client = scriptedClient(['{"cents":500}'])
    const ask = (schema: z.ZodType) =>
      new Agent({ client, middleware: shared }).run('How much?', {
        options: { responseFormat: { schema } },
      })
    await ask(cents)

    const { value } = await ask(cents.transform((price) => price.cents / 100))

    expect(value).toBe(5)
    client.assertDone()
  })

  test('that only a validator inside the cache knows is not stored, since no hit could be validated', async () => {
    const client = scriptedClient(() => '{"cents":5}')
    const agent = new Agent({ client, middleware: [cache(), schemaValidator({ schema: cents })] })
    await agent.run('How much?')

    const { value, metadata } = await agent.run('How much?')

    expect(value).toEqual({ cents: 5 })
    expect(metadata['cache']).toMatchObject({ hit: false, reason: 'unknown-schema' })
  })
})
