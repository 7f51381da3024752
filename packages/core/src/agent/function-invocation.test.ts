import { callFunction, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentResponse, ChatClient, GetResponseOptions } from '../index.ts'
import {
  Agent,
  BudgetExhausted,
  chatMiddleware,
  functionMiddleware,
  GuardrailTripped,
  tool,
  withFunctionInvocation,
} from '../index.ts'
import { callInternally } from '../authoring.ts'

const block = { level: 'chat', stage: 'output', category: 'secret', message: '' } as const

function weather(onCall: () => void = () => {}) {
  return tool({
    name: 'weather',
    description: 'The weather.',
    execute: () => {
      onCall()
      return 'sunny'
    },
  })
}

describe.each(runModes)('a client with function invocation, %s', (mode) => {
  async function ask(
    client: ChatClient,
    options: Omit<GetResponseOptions, 'stream'>,
  ): Promise<AgentResponse> {
    const response =
      mode === 'streamed'
        ? await client.getResponse('How is it?', { ...options, stream: true }).finalResponse()
        : await client.getResponse('How is it?', options)
    return response as AgentResponse
  }

  it('executes tools through the middlewares of the client', async () => {
    const log: string[] = []
    const model = scriptedClient([callFunction('weather'), 'Sunny.'], {
      middleware: [
        chatMiddleware('chat', async (_context, callNext) => {
          log.push('model call')
          await callNext()
        }),
        functionMiddleware('function', async (context, callNext) => {
          log.push(`tool call of ${context.function.name}`)
          await callNext()
        }),
      ],
    })
    const client = withFunctionInvocation(model)

    const { text, messages, usage } = await ask(client, { tools: [weather()] })

    expect(text).toBe('Sunny.')
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant'])
    expect(log).toEqual(['model call', 'tool call of weather', 'model call'])
    expect(usage.totalTokens).toBe(30)
  })

  it('returns right after the tools where they were required', async () => {
    const model = scriptedClient(() => callFunction('weather'))
    const client = withFunctionInvocation(model)

    const { messages } = await ask(client, { tools: [weather()], toolChoice: 'required' })

    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool'])
    expect(model.requests).toHaveLength(1)
  })

  it('observes its limits', async () => {
    const model = scriptedClient(({ options }) =>
      options.toolChoice === 'none' ? 'Enough.' : callFunction('weather'),
    )
    const client = withFunctionInvocation(model, { maxIterations: 2 })

    const { status, text } = await ask(client, { tools: [weather()] })

    expect(status).toBe('max_iterations')
    expect(text).toBe('Enough.')
    expect(model.requests).toHaveLength(3)
  })

  it('rejects where a guardrail blocks', async () => {
    const secret = chatMiddleware('secret', () => {
      throw new GuardrailTripped({ ...block, guardrail: 'secret' })
    })
    const client = withFunctionInvocation(scriptedClient([], { middleware: secret }))

    await expect(ask(client, {})).rejects.toMatchObject({ code: 'guardrail_tripped' })
  })

  it('says of options that belong to an agent where they go', async () => {
    const client = withFunctionInvocation(scriptedClient(['Hi.']))

    await expect(async () => ask(client, { session: {} } as GetResponseOptions)).rejects.toThrow(
      'only an `Agent` keeps one',
    )
  })

  it('an agent on it runs its own loop, with its own middlewares', async () => {
    const log: string[] = []
    const deny = functionMiddleware('deny', (context) => {
      log.push('denied')
      context.result = 'no'
    })
    const client = withFunctionInvocation(scriptedClient([callFunction('weather'), 'Done.']))
    const agent = new Agent({
      client,
      tools: [weather(() => log.push('tool ran'))],
      middleware: deny,
    })

    const { text } =
      mode === 'streamed'
        ? await agent.run('How is it?', { stream: true }).finalResponse()
        : await agent.run('How is it?')

    expect(text).toBe('Done.')
    expect(log).toEqual(['denied'])
  })

  it('executes nothing where a middleware puts it in place of another client', async () => {
    const log: string[] = []
    const pass = chatMiddleware('pass', (_context, callNext) => callNext())
    const model = scriptedClient([callFunction('weather'), 'Done.'], { middleware: pass })
    const guest = withFunctionInvocation(model)
    const swap = chatMiddleware('swap', async (context, callNext) => {
      context.client = guest
      await callNext()
    })
    const deny = functionMiddleware('deny', (context) => {
      log.push('denied')
      context.result = 'no'
    })
    const agent = new Agent({
      client: scriptedClient([]),
      tools: [weather(() => log.push('tool ran'))],
      middleware: [swap, deny],
    })

    const { text } =
      mode === 'streamed'
        ? await agent.run('How is it?', { stream: true }).finalResponse()
        : await agent.run('How is it?')

    expect(text).toBe('Done.')
    expect(log).toEqual(['denied'])
  })
})

describe('a client with function invocation', () => {
  it('continues with the answer to an approval', async () => {
    const log: string[] = []
    const client = withFunctionInvocation(scriptedClient([callFunction('weather'), 'Sunny.']))
    const asks = { ...weather(() => log.push('ran')), approval: 'always' as const }
    const first = await client.getResponse('How is it?', { tools: [asks] })
    expect(log).toEqual([])

    const second = await client.getResponse(['How is it?', ...first.messages], {
      tools: [asks],
      answers: { [first.pending[0]!.id]: true },
    })

    expect(first.status).toBe('paused')
    expect(second.text).toBe('Sunny.')
    expect(log).toEqual(['ran'])
  })

  it('executes nothing for another run, whose middlewares would not see it', async () => {
    const log: string[] = []
    const judge = withFunctionInvocation(scriptedClient([callFunction('weather')]))
    const judged = chatMiddleware('judged', async (context, callNext) => {
      await callNext()
      const response = await callInternally(context.run, {
        middleware: 'judged',
        client: judge,
        input: 'ok?',
        options: { tools: [weather(() => log.push('ran'))] },
      })
      log.push(`${response.functionCalls.length} call`)
    })
    const agent = new Agent({ client: scriptedClient(['Hello.']), middleware: judged })

    const { usage } = await agent.run('Hi')

    expect(log).toEqual(['1 call'])
    expect(usage.totalTokens).toBe(30)
  })

  it('resolves where a budget ends the run', async () => {
    const model = scriptedClient([callFunction('weather')], {
      middleware: functionMiddleware('budget', () => {
        throw new BudgetExhausted('money', 1)
      }),
    })

    const { status } = await withFunctionInvocation(model).getResponse('Hi', { tools: [weather()] })

    expect(status).toBe('budget_exhausted')
  })

  it('names a wrong setting', () => {
    expect(() => withFunctionInvocation(scriptedClient([]), { maxIterations: 0 })).toThrow(
      '`maxIterations` must be a whole number from 1 up, got 0',
    )
  })
})
