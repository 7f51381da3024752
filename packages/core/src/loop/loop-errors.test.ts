import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { FunctionInvocationConfiguration, FunctionResult, Middleware } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  functionMiddleware,
  GuardrailTripped,
  jsonSchema,
  LamellaError,
  MiddlewareTermination,
  outcomeOf,
  textOf,
  tool,
  ToolError,
  withMiddleware,
} from '../index.ts'
import { failureOf, modes, outline, play, resultsOf } from './loop-invariant.test-helper.ts'

describe.each(modes)('errors in the loop, $name', ({ stream }) => {
  function make(
    steps: readonly ScriptedStep[],
    functionInvocation: FunctionInvocationConfiguration = {},
    middleware: Middleware[] = [],
  ) {
    const client = scriptedClient(steps)
    const ran: string[] = []
    const good = tool({
      name: 'good',
      description: '',
      parameters: jsonSchema({
        type: 'object',
        properties: { n: { type: 'number' } },
        required: ['n'],
      }),
      execute: ({ n }) => {
        ran.push(`good ${String(n)}`)
        return 'fine'
      },
    })
    const bad = tool({
      name: 'bad',
      description: '',
      execute: () => {
        ran.push('bad')
        throw new Error('the database said no')
      },
    })
    const agent = new Agent({ client, tools: [good, bad], functionInvocation, middleware })
    return { agent, client, ran }
  }

  const good = (callId: string) => callFunction('good', { n: 1 }, callId)
  const bad = (callId: string) => callFunction('bad', {}, callId)
  const read = ({ contents }: Pick<FunctionResult, 'contents'>) => textOf(contents)

  it('what a tool throws is a result with a general text, and the loop continues', async () => {
    const { agent } = make([bad('c1'), 'Sorry.'])

    const { response } = await play(agent, 'Go', { stream })

    const [result] = resultsOf(response.messages)
    expect(read(result!)).toBe('Error: Function failed.')
    expect(result!.error).toEqual({ code: 'tool_failed', message: 'the database said no' })
    expect(response).toMatchObject({ status: 'completed', text: 'Sorry.' })
  })

  it('what a tool throws is in the text where details are asked for', async () => {
    const { agent } = make([bad('c1'), 'Sorry.'], { includeDetailedErrors: true })

    const { response } = await play(agent, 'Go', { stream })

    expect(read(resultsOf(response.messages)[0]!)).toBe(
      'Error: Function failed. the database said no',
    )
  })

  it('anything may be thrown, also by a tool that is not async, also undefined', async () => {
    const client = scriptedClient([
      [callFunction('odd', {}, 'c1'), callFunction('rejects', {}, 'c2')],
      'Done.',
    ])
    const odd = tool({
      name: 'odd',
      description: '',
      execute: () => {
        throw undefined
      },
    })
    const rejects = tool({
      name: 'rejects',
      description: '',
      execute: () => Promise.reject('text'),
    })

    const { response } = await play(new Agent({ client, tools: [odd, rejects] }), 'Go', { stream })

    expect(resultsOf(response.messages).map(({ error }) => error)).toEqual([
      { code: 'tool_failed', message: 'undefined' },
      { code: 'tool_failed', message: 'text' },
    ])
  })

  it('a ToolError tells the model what it says', async () => {
    const client = scriptedClient([callFunction('picky', {}, 'c1'), 'Done.'])
    const picky = tool({
      name: 'picky',
      description: '',
      execute: () => {
        throw new ToolError('Only on Tuesdays.', { reason: 'denied' })
      },
    })

    const { response } = await play(new Agent({ client, tools: [picky] }), 'Go', { stream })

    const [result] = resultsOf(response.messages)
    expect(read(result!)).toContain('Only on Tuesdays.')
    expect(result!.error).toEqual({ code: 'denied', message: 'Only on Tuesdays.' })
  })

  it.each([
    ['that do not fit the schema', '{}'],
    ['that are no JSON', '{"n":'],
    ['that are no object', '[1]'],
  ])(
    'arguments %s are an error result, and neither middlewares nor the tool run',
    async (_, args) => {
      let entered = 0
      const middleware = functionMiddleware('count', async (_context, callNext) => {
        entered++
        await callNext()
      })
      const { agent, ran } = make([callFunction('good', args, 'c1'), 'Sorry.'], {}, [middleware])

      const { response } = await play(agent, 'Go', { stream })

      const [result] = resultsOf(response.messages)
      expect(read(result!)).toBe('Error: Argument parsing failed.')
      expect(result!.error?.code).toBe('invalid_arguments')
      expect([ran, entered]).toEqual([[], 0])
    },
  )

  it('invalid arguments are explained where details are asked for, without the values', async () => {
    const { agent } = make([callFunction('good', { n: 'secret' }, 'c1'), 'Sorry.'], {
      includeDetailedErrors: true,
    })

    const { response } = await play(agent, 'Go', { stream })

    const text = read(resultsOf(response.messages)[0]!)
    expect(text).toMatch(/^Error: Argument parsing failed\. n: /)
    expect(text).not.toContain('secret')
  })

  it('arguments that a middleware put in place are checked again', async () => {
    const middleware = functionMiddleware('break', async (context, callNext) => {
      context.arguments = { n: 'no number' }
      await callNext()
    })
    const { agent, ran } = make([good('c1'), 'Sorry.'], {}, [middleware])

    const { response } = await play(agent, 'Go', { stream })

    expect(ran).toEqual([])
    expect(resultsOf(response.messages)[0]!.error?.code).toBe('invalid_arguments')
  })

  it('arguments cannot be edited in place, past the schema', async () => {
    const middleware = functionMiddleware('break', async (context, callNext) => {
      Object.assign(context.arguments, { n: 'no number' })
      await callNext()
    })
    const { agent, ran } = make([good('c1'), 'Sorry.'], {}, [middleware])

    await expect(play(agent, 'Go', { stream })).rejects.toThrow(TypeError)
    expect(ran).toEqual([])
  })

  it('a tool that assigns its own arguments has failed, since that changes nothing', async () => {
    const late = tool({
      name: 'late',
      description: '',
      execute: (_, context) => {
        Object.assign(context, { arguments: { n: 2 } })
        return 'done'
      },
    })
    const { agent } = make([callFunction('late', {}, 'c1'), 'Sorry.'])

    const { response } = await play(agent, 'Go', { tools: [late], stream })

    expect(resultsOf(response.messages)[0]!.error).toEqual({
      code: 'tool_failed',
      message: 'the tool "late" assigned context.arguments, where it changes nothing',
    })
  })

  describe('a call to a tool that does not exist', () => {
    it('is an error result, and the others run', async () => {
      const { agent, ran } = make([[good('c1'), callFunction('ghost', {}, 'c2')], 'Sorry.'])

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toEqual(['good 1'])
      expect(read(resultsOf(response.messages)[1]!)).toBe(
        'Error: Requested function "ghost" not found.',
      )
      expect(response.text).toBe('Sorry.')
    })

    it('fails the run, before anything of its batch runs, with `terminateOnUnknownCalls`', async () => {
      const { agent, ran } = make([[good('c1'), callFunction('ghost', {}, 'c2')]], {
        terminateOnUnknownCalls: true,
      })

      const error = await failureOf(play(agent, 'Go', { stream }))

      expect(LamellaError.is(error, 'unknown_tool')).toBe(true)
      expect(error.message).toContain('"ghost"')
      expect(ran).toEqual([])
      expect(outcomeOf(error)).toMatchObject({ status: 'failed', usage: { totalTokens: 15 } })
    })
  })

  it('a tool that is executable but not shown runs', async () => {
    const { agent, client } = make([callFunction('hidden', {}, 'c1'), 'Done.'])
    const hidden = tool({ name: 'hidden', description: '', execute: () => 'found' })

    const { response } = await play(agent, 'Go', {
      functionInvocation: { additionalTools: [hidden] },
      stream,
    })

    expect(outline(response.messages)[1]).toBe('tool: c1 = found')
    expect(client.requests[0]!.options.tools?.map(({ name }) => name)).toEqual(['good', 'bad'])
  })

  describe('rounds with an error in a row', () => {
    it('turn tools off when there were too many', async () => {
      const { agent, client, ran } = make([bad('c1'), bad('c2'), 'I give up.'], {
        maxConsecutiveErrorsPerRequest: 2,
      })

      const { response } = await play(agent, 'Go', { stream })

      expect(ran).toHaveLength(2)
      expect(client.requests[2]!.options.toolChoice).toBe('none')
      expect(response).toMatchObject({
        status: 'completed',
        reason: 'max_consecutive_errors',
        text: 'I give up.',
      })
    })

    it('are three by default', async () => {
      const { agent, client } = make([bad('c1'), bad('c2'), bad('c3'), 'I give up.'])

      await play(agent, 'Go', { stream })

      expect(client.requests.map(({ options }) => options.toolChoice)).toEqual([
        undefined,
        undefined,
        undefined,
        'none',
      ])
    })

    it('may not be: with 0 the first one turns tools off', async () => {
      const { agent, client } = make([bad('c1'), 'I give up.'], {
        maxConsecutiveErrorsPerRequest: 0,
      })

      await play(agent, 'Go', { stream })

      expect(client.requests[1]!.options.toolChoice).toBe('none')
    })

    it('never run a tool that the provider calls all the same', async () => {
      const { agent, ran } = make([bad('c1'), bad('c2')], { maxConsecutiveErrorsPerRequest: 1 })

      await play(agent, 'Go', { stream })

      expect(ran).toHaveLength(1)
    })

    it('are counted by round, not by call, and a clean round begins anew', async () => {
      const { agent, client } = make(
        [[bad('c1'), bad('c2'), good('c3')], good('c4'), bad('c5'), good('c6'), 'Done.'],
        { maxConsecutiveErrorsPerRequest: 2 },
      )

      await play(agent, 'Go', { stream })

      expect(client.requests.map(({ options }) => options.toolChoice)).toEqual(
        Array(5).fill(undefined),
      )
    })
  })

  describe('a function middleware', () => {
    it('that throws fails the run, and the model reads nothing of it', async () => {
      const broken = functionMiddleware('guardrail', () => {
        throw new Error('guardrail is broken')
      })
      const { agent, client, ran } = make([good('c1')], {}, [broken])

      const error = await failureOf(play(agent, 'Go', { stream }))

      expect(error.message).toBe('guardrail is broken')
      expect(ran).toEqual([])
      expect(client.requests).toHaveLength(1)
      expect(outline(outcomeOf(error)!.messages)).toEqual([
        'assistant: good(c1)',
        'tool: c1 = cancelled',
      ])
    })

    it('that throws after the tool ran fails the run too', async () => {
      const broken = functionMiddleware('guardrail', async (_, callNext) => {
        await callNext()
        throw new Error('guardrail is broken')
      })
      const { agent, ran } = make([good('c1')], {}, [broken])

      const error = await failureOf(play(agent, 'Go', { stream }))

      expect([error.message, ran]).toEqual(['guardrail is broken', ['good 1']])
    })

    it('may catch what the tool threw and give a result in its place', async () => {
      const mend = functionMiddleware('mend', async (context, callNext) => {
        try {
          await callNext()
        } catch (error) {
          context.result = `mended: ${(error as Error).message}`
        }
      })
      const { agent } = make([bad('c1'), 'Done.'], {}, [mend])

      const { response } = await play(agent, 'Go', { stream })

      expect(outline(response.messages)[1]).toBe('tool: c1 = mended: the database said no')
    })

    it('that lets the error of the tool pass, or throws it again, leaves it a result', async () => {
      const pass = functionMiddleware('pass', async (_, callNext) => {
        try {
          await callNext()
        } catch (error) {
          throw error as Error
        }
      })
      const { agent } = make([bad('c1'), 'Done.'], {}, [pass])

      const { response } = await play(agent, 'Go', { stream })

      expect(resultsOf(response.messages)[0]!.error?.code).toBe('tool_failed')
    })

    it('that makes an error of its own of it fails the run', async () => {
      const wrap = functionMiddleware('wrap', async (_, callNext) => {
        try {
          await callNext()
        } catch (cause) {
          throw new Error('wrapped', { cause })
        }
      })
      const { agent } = make([bad('c1')], {}, [wrap])

      const error = await failureOf(play(agent, 'Go', { stream }))

      expect(error.message).toBe('wrapped')
    })
  })

  it('a model call that fails tells what was done before it', async () => {
    const { agent } = make([good('c1'), new Error('the network is down')])

    const error = await failureOf(play(agent, 'Go', { stream }))

    expect(error.message).toBe('the network is down')
    expect(outline(outcomeOf(error)!.messages)).toEqual(['assistant: good(c1)', 'tool: c1 = fine'])
    expect(outcomeOf(error)).toMatchObject({ status: 'failed', usage: { totalTokens: 15 } })
  })

  it('an approval policy that throws fails the run: nothing runs by accident', async () => {
    const client = scriptedClient([callFunction('gated', {}, 'c1')])
    const ran: string[] = []
    const gated = tool({
      name: 'gated',
      description: '',
      approval: () => {
        throw new Error('no policy')
      },
      execute: () => void ran.push('gated'),
    })
    const agent = new Agent({ client, tools: [gated] })

    const error = await failureOf(play(agent, 'Go', { stream }))

    expect([error.message, ran]).toEqual(['no policy', []])
  })
})

describe.each(modes)('the end of another run inside a tool, $name', ({ stream }) => {
  const blocking = agentMiddleware('strict', async (_, callNext) => {
    await callNext()
    throw new GuardrailTripped({
      guardrail: 'strict',
      level: 'agent',
      stage: 'output',
      category: 'c',
      message: 'I may not say that.',
    })
  })
  const sub = new Agent({
    name: 'sub',
    client: scriptedClient(() => 'A secret.'),
    onBlock: 'throw',
    middleware: blocking,
  })
  const stopped = withMiddleware(
    scriptedClient(() => 'A secret.'),
    chatMiddleware('stop', () => {
      throw new MiddlewareTermination('closed')
    }),
  )
  const ask = (execute: () => Promise<unknown>) => tool({ name: 'sub', description: '', execute })

  it.each([
    [
      'a sub-agent is blocked',
      agentTool(sub, { description: '' }),
      undefined,
      'I may not say that.',
    ],
    [
      'a run by hand is blocked',
      ask(() => sub.run('Hi')),
      'tool_failed',
      'Error: Function failed. A run that it started ended as blocked.',
    ],
    [
      'a model call is terminated',
      ask(() => stopped.getResponse('Hi')),
      'tool_failed',
      'Error: Function failed. A run that it started ended as terminated.',
    ],
  ])('%s: the call has a result, and the run continues', async (_, asking, code, read) => {
    const client = scriptedClient([callFunction('sub', { task: 'Ask.' }, 'c1'), 'No answer.'])

    const { response } = await play(new Agent({ client, tools: [asking] }), 'Go', { stream })

    const [result] = resultsOf(response.messages)
    expect([result?.error?.code, textOf(result!.contents)]).toEqual([code, read])
    expect(response).toMatchObject({ status: 'completed', text: 'No answer.' })
  })

  it('what the tool itself throws to end the run ends it', async () => {
    const closed = ask(() => Promise.reject(new MiddlewareTermination('closed')))
    const client = scriptedClient([callFunction('sub', {}, 'c1')])

    const { response } = await play(new Agent({ client, tools: [closed] }), 'Go', { stream })

    expect(response).toMatchObject({ status: 'terminated', reason: 'closed' })
  })
})
