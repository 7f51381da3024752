import { AsyncLocalStorage } from 'node:async_hooks'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'

describe.each(runModes)('async context, %s', (mode) => {
  it('flows from a middleware to all that it calls: middlewares and tools', async () => {
    const storage = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const note = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
      seen.push(storage.getStore())
      await callNext()
      seen.push(storage.getStore())
    }
    const look = tool({
      name: 'look',
      description: 'Looks.',
      parameters: jsonSchema({ type: 'object' }),
      execute: () => void seen.push(storage.getStore()),
    })
    const outer = agentMiddleware('outer', (_, callNext) => storage.run('of the run', callNext))
    const middleware = [outer, chatMiddleware('c', note), functionMiddleware('f', note)]
    const client = scriptedClient([callFunction('look'), 'Done.'])

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(seen).toEqual(Array.from({ length: 7 }, () => 'of the run'))
    expect(storage.getStore()).toBeUndefined()
  })
})

it('async context flows from a middleware to a provider that is asked without streaming', async () => {
  const storage = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const client = scriptedClient(() => {
    seen.push(storage.getStore())
    return 'Done.'
  })
  const outer = chatMiddleware('outer', (_, callNext) => storage.run('of the call', callNext))

  await new Agent({ client, middleware: outer }).run('Hello')

  expect(seen).toEqual(['of the call'])
})
