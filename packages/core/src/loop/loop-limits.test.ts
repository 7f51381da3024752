import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { Content, FunctionInvocationConfiguration } from '../index.ts'
import { Agent, chatMiddleware, createSession, jsonSchema, tool } from '../index.ts'
import { modes, outline, play, resultsOf } from './loop-invariant.test-helper.ts'

const fallback = 'I could not finish this with the tools at hand.'

describe.each(modes)('limits of the loop, $name', ({ stream }) => {
  function make(
    steps: readonly ScriptedStep[],
    functionInvocation: FunctionInvocationConfiguration,
  ) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const step = tool({
      name: 'step',
      description: 'Does a step.',
      parameters: jsonSchema({ type: 'object' }),
      execute: (_, { callId }) => void ran.push(callId),
    })
    return { client, ran, agent: new Agent({ client, tools: [step], functionInvocation }) }
  }

  const step = (callId: string) => callFunction('step', {}, callId)

  describe('maxIterations', () => {
    it('ends in one more model call that must do without tools', async () => {
      const { agent, client, ran } = make([step('c1'), step('c2'), 'That is all.'], {
        maxIterations: 2,
      })

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({
        status: 'max_iterations',
        reason: 'max_iterations',
        text: 'That is all.',
      })
      expect(ran).toEqual(['c1', 'c2'])
      expect(client.requests.map(({ options }) => options.toolChoice)).toEqual([
        undefined,
        undefined,
        'none',
      ])
      expect(client.requests[2]!.options.tools).toHaveLength(1)
      expect(outline(response.messages)).toHaveLength(5)
    })

    it('is not reached by an answer that comes before it', async () => {
      const { agent } = make([step('c1'), 'Done.'], { maxIterations: 2 })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.status).toBe('completed')
    })

    it.each<[string, ScriptedStep, string[]]>([
      ['a blank answer', '  ', ['assistant:   ' + fallback]],
      [
        'an answer of thoughts alone',
        { messages: [{ type: 'reasoning', text: 'Hm.' }] },
        [`assistant: reasoning, ${fallback}`],
      ],
      ['an answer of calls alone', step('late'), [`assistant: ${fallback}`]],
      ['an answer of nothing', { messages: [] }, [`assistant: ${fallback}`]],
    ])('%s at the end is given words', async (_, last, expected) => {
      const { agent, ran } = make([step('c1'), last], { maxIterations: 1 })

      const { response } = await play(agent, 'Go', { stream })

      expect(outline(response.messages).slice(2)).toEqual(expected)
      expect(ran).toEqual(['c1'])
      expect(response.finishReason).toBe('stop')
    })

    it("has words of the agent's own where it has some", async () => {
      const client = scriptedClient([''])
      const agent = new Agent({ client, fallbackText: 'Basta.', options: { toolChoice: 'none' } })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.text).toBe('Basta.')
    })

    it('leaves a session with which the talk can continue', async () => {
      const session = createSession()
      const { agent, client } = make([step('c1'), step('c2'), 'And now?', 'Good.'], {
        maxIterations: 1,
      })

      await play(agent, 'Go', { session, stream })
      await play(agent, 'On', { session, stream })

      expect(outline(client.requests[2]!.messages)).toEqual([
        'user: Go',
        'assistant: step(c1)',
        'tool: c1 = ',
        `assistant: ${fallback}`,
        'user: On',
      ])
    })
  })

  describe('maxFunctionCalls', () => {
    it('is checked before execution: of a batch only as many run, the others get a result that says so', async () => {
      const batch = (...ids: string[]) => ids.map(step)
      const { agent, client, ran } = make(
        [batch('c1', 'c2', 'c3'), batch('c4', 'c5', 'c6'), 'Done.'],
        {
          maxFunctionCalls: 5,
        },
      )

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
      expect(outline(response.messages)[3]).toBe('tool: c4 = , c5 = , c6 = budget')
      expect(response).toMatchObject({
        status: 'completed',
        reason: 'max_function_calls',
        text: 'Done.',
      })
      expect(client.requests[2]!.options.toolChoice).toBe('none')
    })

    it('stops single calls exactly at the limit', async () => {
      const { agent, client, ran } = make([step('c1'), step('c2'), 'Done.'], {
        maxFunctionCalls: 2,
      })

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toEqual(['c1', 'c2'])
      expect(client.requests[2]!.options.toolChoice).toBe('none')
      expect(response.text).toBe('Done.')
    })

    it('gives a blank last answer words', async () => {
      const { agent } = make([step('c1'), ''], { maxFunctionCalls: 1 })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.text).toBe(fallback)
    })

    it('is no limit by default', async () => {
      const calls = Array.from({ length: 30 }, (_, index) => step(`c${index}`))
      const { agent, ran } = make(
        [calls, calls.map(({ callId }) => step(`${callId}b`)), 'Done.'],
        {},
      )

      await play(agent, 'Go', { stream })

      expect(ran).toHaveLength(60)
    })
  })

  describe('a call that comes although tools are off', () => {
    const hostedRequest: Content = {
      type: 'approval-request',
      id: 'h1',
      call: callFunction('remote', {}, 'r1'),
      hosted: true,
    }
    const ran: Content = { type: 'hosted', name: 'web_search', id: 'w1', data: { query: 'x' } }
    const seen: Content = { ...callFunction('remote', {}, 'r1'), informational: true }

    it('is dropped, and the words beside it stay', async () => {
      const { agent, ran: executed } = make([step('c1'), ['Almost.', step('c2')]], {
        maxIterations: 1,
      })

      const { response } = await play(agent, 'Go', { stream })

      expect(executed).toEqual(['c1'])
      expect(outline(response.messages)[2]).toBe('assistant: Almost.')
      expect(response.finishReason).toBe('stop')
    })

    it('is dropped, and an update that tells only facts passes', async () => {
      const { agent } = make(
        [
          step('c1'),
          {
            updates: [
              { contents: [step('c2')], usage: { totalTokens: 7 }, model: 'late-model' },
              { contents: [], finishReason: 'tool-calls' },
            ],
          },
        ],
        { maxIterations: 1 },
      )

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({ model: 'late-model', text: fallback, finishReason: 'stop' })
      expect(response.usage.totalTokens).toBe(22)
    })

    it('is dropped from an answer that was cut off, which says so', async () => {
      const cut = { messages: [step('c2')], finishReason: 'length' } as const
      const { agent } = make([step('c1'), cut], { maxIterations: 1 })

      const { response } = await play(agent, 'Go', { stream })

      expect(response).toMatchObject({ text: fallback, finishReason: 'length' })
    })

    it.each<[string, Content[]]>([
      ['what the provider ran', [ran]],
      ['a transcript of what ran elsewhere', [seen]],
    ])('does not take %s with it, and words are added', async (_, kept) => {
      const { agent } = make([step('c1'), [...kept, step('c2')]], { maxIterations: 1 })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.messages[2]!.contents).toEqual([...kept, { type: 'text', text: fallback }])
    })

    it("does not take a provider's own approval request with it", async () => {
      const { agent } = make([step('c1'), [hostedRequest, step('c2')]], { maxIterations: 1 })

      const { response } = await play(agent, 'Go', { stream })

      expect(response.messages[2]!.contents).toEqual([hostedRequest])
      expect(response).toMatchObject({ status: 'max_iterations', pending: [] })
    })

    it('gets a result if a middleware made it, and never runs', async () => {
      const { agent, ran: executed, client } = make([step('c1')], { maxIterations: 1 })
      const short = chatMiddleware('short', async (context, callNext) => {
        if (context.iteration === 0) await callNext()
        else context.result = { messages: step('c2') }
      })

      const { response } = await play(agent, 'Go', { middleware: short, stream })

      expect(executed).toEqual(['c1'])
      expect(outline(response.messages).slice(2)).toEqual([
        'assistant: step(c2)',
        'tool: c2 = cancelled',
      ])
      client.assertDone()
    })
  })

  it("the configuration of a run lies over the agent's, and is gone after it", async () => {
    const { agent } = make([step('c1'), 'A.', step('c2'), 'B.'], {
      maxIterations: 5,
      maxFunctionCalls: 9,
    })

    const first = await play(agent, 'Go', { functionInvocation: { maxIterations: 1 }, stream })
    const second = await play(agent, 'Go', { stream })

    expect([first, second].map(({ response }) => response.status)).toEqual([
      'max_iterations',
      'completed',
    ])
  })

  it('a mutated configuration does not reach a run that is under way', async () => {
    const config: { maxIterations: number } = { maxIterations: 3 }
    const client = scriptedClient([step('c1'), step('c2'), 'Done.'])
    const meddle = tool({
      name: 'step',
      description: '',
      execute: () => void (config.maxIterations = 1),
    })
    const agent = new Agent({ client, tools: [meddle], functionInvocation: config })

    const { response } = await play(agent, 'Go', { stream })

    expect(response.status).toBe('completed')
    expect(resultsOf(response.messages)).toHaveLength(2)
  })
})

describe('a configuration that is wrong', () => {
  it.each<[FunctionInvocationConfiguration, string]>([
    [{ maxIterations: 0 }, '`maxIterations` must be a whole number from 1 up, got 0'],
    [{ maxIterations: 1.5 }, '`maxIterations` must be a whole number from 1 up, got 1.5'],
    [{ maxFunctionCalls: 0 }, '`maxFunctionCalls` must be a whole number from 1 up, got 0'],
    [
      { maxConsecutiveErrorsPerRequest: -1 },
      '`maxConsecutiveErrorsPerRequest` must be a whole number from 0 up, got -1',
    ],
    [{ maxConcurrency: 0 }, '`maxConcurrency` must be a whole number from 1 up, got 0'],
  ])('%o throws when the agent is made', (functionInvocation, message) => {
    const make = () => new Agent({ client: scriptedClient([]), functionInvocation })

    expect(make).toThrow(RangeError)
    expect(make).toThrow(message)
  })

  it('no limit is as good as a number', () => {
    const functionInvocation = { maxIterations: Infinity, maxFunctionCalls: undefined }

    expect(new Agent({ client: scriptedClient([]), functionInvocation })).toBeInstanceOf(Agent)
  })
})
