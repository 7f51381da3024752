import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { AgentOptions, Checkpoint, FunctionResultContent, Schema } from '../index.ts'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  functionMiddleware,
  jsonSchema,
  textOf,
  tool,
} from '../index.ts'
import { functionPipeline } from '../authoring.ts'
import { lifecycle } from '@lamella/lifecycle'
import { outline, resultsOf } from './loop-invariant.test-helper.ts'

/** Takes its time, and makes a number of a text. */
const slow: Schema<{ readonly n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'slow',
    validate: async (value) => ({ value: { n: Number((value as { readonly n: string }).n) } }),
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
}

const double = tool({
  name: 'double',
  description: 'Doubles a number.',
  parameters: slow,
  execute: ({ n }) => n * 2,
})

test('a pipeline of tool calls waits for a schema that takes its time', async () => {
  const { contents } = await functionPipeline([]).execute({
    function: double,
    arguments: { n: '4' },
  })

  expect(textOf(contents)).toBe('8')
})

describe.each(runModes)('a call that the model makes, %s', (mode) => {
  const run = (options: Partial<AgentOptions> & Pick<AgentOptions, 'client'>) =>
    runIn(mode, new Agent(options))

  async function resultOf(
    call: ReturnType<typeof callFunction>,
    options: Partial<AgentOptions>,
  ): Promise<FunctionResultContent> {
    const { messages } = await run({ client: scriptedClient([call, 'Done.']), ...options })
    return resultsOf(messages)[0]!
  }

  test('waits for a schema that takes its time', async () => {
    const { contents } = await resultOf(callFunction('double', { n: '4' }), { tools: [double] })

    expect(textOf(contents)).toBe('8')
  })

  test.each(['', 'null'])('runs with the arguments %j where it needs none', async (given) => {
    const ping = tool({ name: 'ping', description: 'Pings.', execute: () => 'pong' })

    const { contents } = await resultOf(callFunction('ping', given), { tools: [ping] })

    expect(textOf(contents)).toBe('pong')
  })

  test('does not run with arguments that are no JSON, whatever its schema takes', async () => {
    const ran: unknown[] = []
    const any = tool({
      name: 'any',
      description: 'Takes anything.',
      parameters: {
        ...slow,
        '~standard': { ...slow['~standard'], validate: () => ({ value: {} }) },
      },
      execute: () => void ran.push('any'),
    })

    const { error } = await resultOf(callFunction('any', '{"n":'), { tools: [any] })

    expect(error?.code).toBe('invalid_arguments')
    expect(ran).toEqual([])
  })

  test('of a tool that exists runs, where others would fail the run', async () => {
    const functionInvocation = { terminateOnUnknownCalls: true }

    const { contents } = await resultOf(callFunction('double', { n: '4' }), {
      tools: [double],
      functionInvocation,
    })

    expect(textOf(contents)).toBe('8')
  })

  test.each([
    [{ approved: false, reason: 'too much' }, 'too much'],
    [false, 'rejected'],
  ])('that a person rejects tells why, or that it was: %o', async (answer, message) => {
    const gated = { ...double, approval: 'always' } as const
    const client = scriptedClient([callFunction('double', { n: '4' }), 'Done.'])
    const agent = new Agent({ client, tools: [gated] })
    const { checkpoint, pending } = await runIn(mode, agent)

    const { messages } = await agent.resume(checkpoint!, { [pending[0]!.id]: answer })

    expect(resultsOf(messages)[0]?.error).toEqual({ code: 'rejected', message })
  })

  test('of a tool that stops the run has no last word', async () => {
    const last = tool({
      name: 'last',
      description: 'Answers.',
      returnDirect: true,
      execute: (_, context) => {
        context.run.stop('enough', { response: 'Stopped.' })
        return 'Answered.'
      },
    })

    const { messages } = await run({
      client: scriptedClient([callFunction('last', {}, 'c1')]),
      tools: [last],
    })

    expect(outline(messages)).toEqual([
      'assistant: last(c1)',
      'tool: c1 = Answered.',
      'assistant: Stopped.',
    ])
  })

  test('that asks leaves nothing pending where one beside it ends the run', async () => {
    const seen: unknown[] = []
    const watch = agentMiddleware('watch', async (_, callNext) => {
      const { status, pending } = await callNext()
      seen.push(status, pending)
    })
    const mixed = functionMiddleware('mixed', async (context) => {
      if (context.callId === 'c1') await context.run.interrupt('Sure?')
      throw new MiddlewareTermination('enough', { result: 'No.' })
    })
    const calls = ['c1', 'c2'].map((id) => callFunction('double', { n: '1' }, id))

    await run({
      client: scriptedClient([calls]),
      tools: [double],
      middleware: [watch, mixed],
    })

    expect(seen).toEqual(['terminated', []])
  })
})

test('an answer that a hook changes loses the value that was read from it', async () => {
  const client = scriptedClient([
    { messages: [{ role: 'assistant', contents: '{"n":1}' }], value: { n: 1 } },
  ])
  const middleware = lifecycle({
    name: 'change',
    afterModelCall: ({ run }) =>
      run.messages.rewrite((messages) =>
        messages.map((entry) =>
          entry.role === 'assistant'
            ? { ...entry, contents: [{ type: 'text', text: '{"n":2}' }] }
            : entry,
        ),
      ),
  })
  const options = { responseFormat: { schema: jsonSchema({ type: 'object' }) } }

  const { value } = await new Agent({ client, middleware, options }).run('Go')

  expect(value).toEqual({ n: 2 })
})

describe.each(runModes)('a call that a middleware answers, %s', (mode) => {
  const calls = ['c1', 'c2', 'c3'].map((id) => callFunction('double', { n: '1' }, id))

  /** Runs until the checkpoint that `isLast` names, and from there again. */
  async function crash(
    answer: (callId: string, answered: string[]) => unknown,
    isLast: (answered: readonly string[]) => boolean,
  ) {
    const answered: string[] = []
    const options = {
      tools: [double],
      functionInvocation: { maxConcurrency: 1, maxFunctionCalls: 2 },
      middleware: functionMiddleware('answer', async (context) => {
        context.result = answer(context.callId, answered)
      }),
    }
    let kept: Checkpoint | undefined
    const onCheckpoint = (checkpoint: Checkpoint): void => {
      kept = checkpoint
      if (isLast(answered)) throw new Error('crash')
    }
    const dies = agentMiddleware('dies', async (_, callNext) => {
      await callNext()
      throw new Error('crash')
    })
    const middleware = [dies, options.middleware]
    const dying = new Agent({ client: scriptedClient([calls]), ...options, middleware })
    await runIn(mode, dying, { onCheckpoint }).catch(() => {})
    const before = [...answered]
    const again = new Agent({ client: scriptedClient(['Done.']), ...options })
    return { before, answered, response: await again.resume(kept!, {}) }
  }

  test('is not asked about again after a crash, and counts', async () => {
    const { before, answered, response } = await crash(
      (callId, ids) => `${callId} is ${ids.push(callId)}`,
      ({ length }) => length === 1,
    )

    expect([before, answered]).toEqual([['c1'], ['c1', 'c2']])
    expect(outline(response.messages)).toContain('tool: c1 = c1 is 1, c2 = c2 is 2, c3 = budget')
  })

  test('ends the run after a crash, too, if it has ended it before', async () => {
    const { answered, response } = await crash(
      (callId, ids) => {
        ids.push(callId)
        throw new MiddlewareTermination('enough', { result: 'No.' })
      },
      () => false,
    )

    expect(response).toMatchObject({ status: 'terminated', reason: 'enough' })
    expect(answered.slice(0, 2)).toEqual(['c1', 'c2'])
  })
})
