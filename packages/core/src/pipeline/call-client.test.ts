import { runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { interceptLoop } from '../authoring.ts'
import type { ChatClient, ChatRequest } from '../index.ts'
import { Agent, agentMiddleware, chatMiddleware, tool } from '../index.ts'

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

  it('has the tools that an interceptor has put there, but for those that are removed from the run', async () => {
    const names: unknown[] = []
    const client = scriptedClient(({ options }) => {
      names.push(options.tools?.map(({ name }) => name))
      return 'Done.'
    })
    const extra = tool({ name: 'extra', description: 'Is extra.', execute: () => 'more' })
    const middleware = agentMiddleware('edit', async ({ run }, callNext) => {
      interceptLoop(run, {
        name: 'edit',
        async iteration(round, next) {
          const { tools = [] } = round.options
          round.options = { ...round.options, tools: [...tools, extra] }
          run.tools.remove('look')
          await next()
        },
      })
      await callNext()
    })

    await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(names).toEqual([['extra']])
  })

  it('may do without tools that are removed from the run, too', async () => {
    const client = scriptedClient(['Done.'])
    const middleware = chatMiddleware('remove', async (context, callNext) => {
      context.options = { ...context.options, tools: undefined }
      context.run.tools.remove('look')
      await callNext()
    })

    const { text } = await runIn(mode, new Agent({ client, tools: [look], middleware }))

    expect(text).toBe('Done.')
  })

  it('is not made with a signal that is aborted already', async () => {
    const inner = scriptedClient(['Done.'])
    const asked: AbortSignal[] = []
    const client: ChatClient = Object.assign(scriptedClient([]), {
      respond: (request: ChatRequest) => {
        asked.push(request.signal)
        return inner.respond(request)
      },
      stream: (request: ChatRequest) => {
        asked.push(request.signal)
        return inner.stream(request)
      },
    })
    const late = new Error('late')
    const middleware = chatMiddleware('late', async (context, callNext) => {
      context.signal = AbortSignal.abort(late)
      await callNext()
    })

    await expect(runIn(mode, new Agent({ client, middleware }))).rejects.toBe(late)

    expect(asked).toEqual([])
  })

  it('is not aborted by the signal of a middleware once it is done', async () => {
    const own = new AbortController()
    const client = scriptedClient(['Done.'])
    const middleware = chatMiddleware('own', async (context, callNext) => {
      context.signal = own.signal
      await callNext()
    })
    await runIn(mode, new Agent({ client, middleware }))

    own.abort()

    expect(client.requests.map(({ signal }) => signal.aborted)).toEqual([false])
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
