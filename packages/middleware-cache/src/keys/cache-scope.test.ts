import type { RunOptions } from '@lamella/core'
import { Agent, chatMiddleware, LamellaError, withMiddleware } from '@lamella/core'
import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { cache } from '../calls/cache.ts'
import type { CacheOptions } from '../calls/cache-options.ts'

function setUp(options: CacheOptions = {}) {
  const client = scriptedClient(({ index }) => `Answer ${index}.`)
  const agent = new Agent({ client, middleware: cache(options) })
  const ask = async (run: RunOptions = {}) => (await agent.run('Hello', run)).text
  return { agent, client, ask }
}

describe('scope', () => {
  test.each([{ tenant: 'a' }, { tenantId: 1 }, { organization_id: 'o' }, { customerId: 'c' }])(
    'a run that names a tenant fails until a scope is stated: %j',
    async (data) => {
      const { ask, client } = setUp()

      const error: unknown = await ask({ data }).catch((thrown: unknown) => thrown)

      expect(LamellaError.is(error, 'cache_scope_missing')).toBe(true)
      expect(client.requests).toHaveLength(0)
      await expect(ask({ data: { userId: 'u', tenant: undefined } })).resolves.toBe('Answer 0.')
      await expect(setUp({ scope: 'shared' }).ask({ data })).resolves.toBe('Answer 0.')
    },
  )

  test('tenants do not share answers, and one without a name is not cached', async () => {
    const { ask } = setUp({ scope: ({ run }) => (run.data as { tenant?: string }).tenant })
    const [a, b, none] = [{ tenant: 'a' }, { tenant: 'b' }, {}]

    const texts = [await ask({ data: a }), await ask({ data: b }), await ask({ data: a })]
    const unnamed = [await ask({ data: none }), await ask({ data: none })]

    expect(texts).toEqual(['Answer 0.', 'Answer 1.', 'Answer 0.'])
    expect(unnamed).toEqual(['Answer 2.', 'Answer 3.'])
  })

  test('the tenant of a run is a scope, and has to be stated too', async () => {
    const { ask } = setUp({ scope: 'tenant' })

    const texts = [
      await ask({ tenant: 'a' }),
      await ask({ tenant: 'b' }),
      await ask({ tenant: 'a' }),
    ]
    const none = [await ask(), await ask()]
    const error: unknown = await setUp()
      .ask({ tenant: 'a' })
      .catch((thrown: unknown) => thrown)

    expect(texts).toEqual(['Answer 0.', 'Answer 1.', 'Answer 0.'])
    expect(none).toEqual(['Answer 2.', 'Answer 3.'])
    expect(LamellaError.is(error, 'cache_scope_missing')).toBe(true)
  })

  test.each(runModes)(
    'a client that another middleware puts in place knows the tenant, %s',
    async (mode) => {
      const setUpOther = (options: CacheOptions) => {
        const other = scriptedClient(({ index }) => `Answer ${index}.`, { provider: 'other' })
        const client = withMiddleware(other, cache(options))
        const swap = chatMiddleware('swap', async (context, callNext) => {
          context.client = client
          await callNext()
        })
        const agent = new Agent({ client: scriptedClient([]), middleware: swap })
        return (tenant: string) => runIn(mode, agent, { tenant })
      }

      const ask = setUpOther({ scope: 'tenant' })
      const texts = [await ask('a'), await ask('b'), await ask('a')].map(({ text }) => text)
      const error: unknown = await setUpOther({})('a').catch((thrown: unknown) => thrown)

      expect(texts).toEqual(['Answer 0.', 'Answer 1.', 'Answer 0.'])
      expect(LamellaError.is(error, 'cache_scope_missing')).toBe(true)
    },
  )

  test('sessions and runs keep their answers to themselves', async () => {
    const ofSession = setUp({ scope: 'session' })
    const [one, two] = ['one', 'two'].map((id) => () => ({
      session: ofSession.agent.createSession({ id }),
    }))
    const ofRun = setUp({ scope: 'run' })

    const bySession = [
      await ofSession.ask(one!()),
      await ofSession.ask(two!()),
      await ofSession.ask(one!()),
    ]
    const byRun = [await ofRun.ask(), await ofRun.ask()]

    expect(bySession).toEqual(['Answer 0.', 'Answer 1.', 'Answer 0.'])
    expect(byRun).toEqual(['Answer 0.', 'Answer 1.'])
  })

  test('a scope cannot be forged by the name of another', async () => {
    const { ask } = setUp({ scope: ({ run }) => String(run.data) })

    const texts = [
      await ask({ data: 'a' }),
      await ask({ data: 'a"' }),
      await ask({ data: 'shared' }),
    ]

    expect(new Set(texts).size).toBe(3)
  })

  test('a namespace is a cache of its own', async () => {
    const shared = new Map<string, unknown>()
    const store = {
      get: async (key: string) => shared.get(key),
      set: async (key: string, value: unknown) => void shared.set(key, value),
      delete: async (key: string) => shared.delete(key),
    }
    const one = setUp({ store, namespace: 'v1' })
    const two = setUp({ store, namespace: 'v2' })
    await one.ask()

    await two.ask()

    expect([one.client.requests.length, two.client.requests.length]).toEqual([1, 1])
  })

  test('a key of the user leaves parts out or adds them', async () => {
    let day = 'Monday'
    const { ask, client } = setUp({
      key: (_, request) => ({ ...request, model: undefined, instructions: undefined, day }),
    })
    await ask()
    await ask({ instructions: 'Be brief.', options: { model: 'other' } })
    day = 'Tuesday'
    await ask()

    expect(client.requests).toHaveLength(2)
  })

  test('without a key, or where making it fails, a call is not cached', async () => {
    const none = setUp({ key: () => undefined })
    const failing = setUp({
      scope: () => {
        throw new Error('no tenant')
      },
    })

    const texts = [await none.ask(), await none.ask(), await failing.ask(), await failing.ask()]

    expect(texts).toEqual(['Answer 0.', 'Answer 1.', 'Answer 0.', 'Answer 1.'])
  })

  test('clients that say they differ do not share answers', async () => {
    const middleware = cache()
    const ask = async (fingerprint: string) => {
      const client = Object.assign(scriptedClient([fingerprint]), { fingerprint })
      return (await new Agent({ client, middleware: middleware }).run('Hello')).text
    }

    expect([await ask('here'), await ask('there'), await ask('here')]).toEqual([
      'here',
      'there',
      'here',
    ])
  })
})
