import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { restoreModelCall, restoreToolCall } from '../authoring.ts'
import { Agent, chatMiddleware, chatResponse, functionMiddleware, tool } from '../index.ts'

const attempt = { provider: 'east', status: 'ok' } as const

describe('a restored call', () => {
  it.each(runModes)('counts as the call of a model that it was, %s', async (mode) => {
    const seen: unknown[] = []
    const client = scriptedClient([])
    const agent = new Agent({
      client,
      middleware: [
        chatMiddleware('outer', async ({ run }, callNext) => {
          await callNext()
          seen.push(run.servedBy)
        }),
        chatMiddleware('restore', (context) => {
          const response = chatResponse({ messages: 'Known.', finishReason: 'stop' })
          const usage = { totalTokens: 9 }
          restoreModelCall(context, response, { servedBy: 'east', usage, attempts: [attempt] })
        }),
      ],
    })

    const response = await runIn(mode, agent)

    expect(response).toMatchObject({ text: 'Known.', usage: { totalTokens: 9 } })
    expect(response.attempts).toEqual([{ iteration: 0, ...attempt }])
    expect(seen).toEqual(['east'])
    expect(client.requests).toHaveLength(0)
  })

  it('offers the tools that its context has', async () => {
    const own = tool({ name: 'own', description: 'Is of one request.', execute: () => 'done' })
    const agent = new Agent({
      client: scriptedClient(['Done.']),
      middleware: chatMiddleware('restore', async (context, callNext) => {
        if (context.iteration > 0) return callNext()
        context.options = { ...context.options, tools: [own] }
        const response = chatResponse({ messages: callFunction('own', {}, 'call_1') })
        return restoreModelCall(context, response, { servedBy: 'east' })
      }),
    })

    const { messages } = await agent.run('Go.')

    expect(messages[1]?.contents).toMatchObject([{ contents: [{ text: 'done' }] }])
  })

  it('leaves its effect in the session of a run that fails', async () => {
    const pay = tool({ name: 'pay', description: 'Pays.', execute: () => 'paid' })
    const agent = new Agent({
      client: scriptedClient([callFunction('pay'), new Error('down')]),
      tools: [pay],
      middleware: functionMiddleware('restore', (context) =>
        restoreToolCall(context, { result: { contents: [{ type: 'text', text: 'paid before' }] } }),
      ),
    })
    const session = agent.createSession()

    await expect(agent.run('Go.', { session })).rejects.toThrow('down')

    expect(JSON.stringify(session.messages)).toContain('paid before')
  })

  it('fails as its tool did, for the model to read', async () => {
    const client = scriptedClient([callFunction('pay'), 'Done.'])
    const agent = new Agent({
      client,
      tools: [tool({ name: 'pay', description: 'Pays.', execute: () => 'paid' })],
      middleware: functionMiddleware('restore', (context) =>
        restoreToolCall(context, { error: new Error('no money') }),
      ),
    })

    const { messages } = await agent.run('Go.')

    expect(messages[1]?.contents).toMatchObject([
      { error: { code: 'tool_failed', message: 'no money' } },
    ])
  })
})
