import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { Agent, chatMiddleware, tool } from '../index.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

describe.each(runModes)('the request of a model call, %s', (mode) => {
  it('has no list of tools after a middleware has removed the last one', async () => {
    const client = scriptedClient(['Done.'])
    const middleware = chatMiddleware('remove', async ({ run }, callNext) => {
      run.tools.remove('look')
      await callNext()
    })

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(client.requests[0]?.options.tools).toBeUndefined()
  })

  it('continues the conversation of the provider after a pause that followed its answer', async () => {
    const answers = [callFunction('look', {}, 'c1'), 'Done.']
    const client = scriptedClient(
      answers.map((messages) => ({ messages, conversationId: 'kept' })),
      { provider: 'keeper' },
    )
    const middleware = chatMiddleware('ask', async ({ run, iteration }, callNext) => {
      await callNext()
      if (iteration === 0) await run.interrupt('Sure?')
    })
    const agent = new Agent({ client, tools: [look], middleware })
    const { checkpoint, pending } = await runIn(mode, agent)

    await agent.resume(checkpoint!, { [pending[0]!.id]: true })

    expect(client.requests[1]?.options.conversationId).toBe('kept')
    expect(client.requests[1]?.messages.map(({ role }) => role)).toEqual(['tool'])
  })
})

it.each(runModes)(
  'an error of a client that is no ProviderError is left as it is, %s',
  async (mode) => {
    const errors = [undefined, Object.assign(new Error('down'), { partial: 'half' })]
    for (const error of errors) {
      const client = scriptedClient(() => Promise.reject(error))

      const running = runIn(mode, new Agent({ client }))

      // oxlint-disable-next-line no-await-in-loop
      await expect(running).rejects.toBe(error)
    }
  },
)
