import type { AgentResponseUpdate } from '@lamella/core'
import {
  Agent,
  chatMiddleware,
  foldUpdates,
  functionMiddleware,
  LamellaError,
  ResponseStream,
  text,
  tool,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import type { ServerSentEventsOptions } from './to-sse.ts'
import { toSSE } from './to-sse.ts'

test('toSSE() has an event for each update and a last one, without what the SDK returned', async () => {
  const client = scriptedClient([{ updates: [{ contents: [text('One')], raw: 'secret' }] }])
  const stream = new Agent({ client }).run('Hello', { stream: true })

  const body = await new Response(toSSE(stream)).text()

  expect(body).toMatch(
    /^event: update\ndata: \{.*"One".*\}\n\nevent: done\ndata: \{"status":"completed"\}\n\n$/,
  )
  expect(body).not.toContain('secret')
})

const everything = ['annotations', 'events', 'files', 'reasoning', 'tool-calls'] as const

test.each<[string, ServerSentEventsOptions | undefined, readonly string[], readonly string[]]>([
  [
    'nothing is asked for',
    undefined,
    ['answer', 'public step'],
    ['arg', 'row', 'thought', 'private'],
  ],
  [
    'much is asked for',
    { include: [...everything, 'tool-results', 'usage'] },
    ['answer', 'arg', 'row', 'thought', 'private step', 'totalTokens', 'note'],
    ['exception', 'opaque', 'sdk'],
  ],
])('toSSE() sends what it may where %s', async (_, options, sent, kept) => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    publicProgress: true,
    async *execute() {
      yield 'public step'
      return 'row'
    },
  })
  const fail = tool({
    name: 'fail',
    description: 'Fails.',
    execute: () => {
      throw new Error('exception')
    },
  })
  const client = scriptedClient([
    [callFunction('look', { a: 'arg' }), callFunction('fail')],
    {
      updates: [
        {
          contents: [
            { type: 'reasoning', text: 'thought', providerData: { signature: 'opaque' } },
            { type: 'text', text: 'answer', annotations: [{ type: 'citation', title: 'note' }] },
          ],
          raw: 'sdk',
          usage: { totalTokens: 3 },
        },
      ],
    },
  ])
  const agent = new Agent({
    client,
    tools: [look, fail],
    functionInvocation: { includeDetailedErrors: true },
    middleware: functionMiddleware('telling', ({ run }, callNext) => {
      run.emit({ type: 'step', data: 'private step' })
      return callNext()
    }),
  })

  const body = await new Response(toSSE(agent.run('Hello', { stream: true }), options)).text()

  for (const word of sent) expect(body).toContain(word)
  for (const word of [...kept, 'exception']) expect(body).not.toContain(word)
})

test('toSSE() tells a client what a paused run waits for, and the neutral message of a block', async () => {
  const gated = tool({ name: 'gated', description: '', approval: 'always', execute: () => 'ran' })
  const paused = new Agent({
    client: scriptedClient([callFunction('gated', { a: 1 })]),
    tools: [gated],
  }).run('Hello', { stream: true })
  const blocked = new Agent({
    client: scriptedClient(['A secret.']),
    middleware: guardrail({
      name: 'g',
      applyTo: ['output'],
      check: () => ({ action: 'block', category: 'secrets', reason: 'it is one' }),
    }),
  }).run('Hello', { stream: true })
  const doneOf = async (stream: typeof paused): Promise<unknown> =>
    JSON.parse((await new Response(toSSE(stream)).text()).split('event: done\ndata: ')[1]!)

  expect(await doneOf(paused)).toEqual({
    status: 'paused',
    pending: [
      {
        id: expect.any(String),
        kind: 'approval',
        callId: 'call_1',
        name: 'gated',
        arguments: '{"a":1}',
      },
    ],
  })
  expect(await doneOf(blocked)).toEqual({
    status: 'blocked',
    message: 'I cannot help with this request.',
  })
})

test('toSSE() refuses to include what it does not know', () => {
  const stream = new Agent({ client: scriptedClient([]) }).run('Hello', { stream: true })

  expect(() => toSSE(stream, { include: ['raw' as 'files'] })).toThrow(/include.*got raw/)
})

test('toSSE() sends updates that are no objects as they are', async () => {
  const body = await new Response(toSSE(ResponseStream.from([1, 2]))).text()

  expect(body).toMatch(/^event: update\ndata: 1\n\nevent: update\ndata: 2\n\nevent: done\n/)
})

test('toSSE() ends with a code where the stream fails, and no word of the error', async () => {
  const bodyOf = (error: Error): Promise<string> => {
    const stream = new Agent({ client: scriptedClient([error]) }).run('Hello', { stream: true })
    return new Response(toSSE(stream)).text()
  }

  expect(await bodyOf(new Error('secret'))).toBe('event: error\ndata: {"code":"run_failed"}\n\n')
  expect(await bodyOf(new LamellaError('secret', { code: 'aborted' }))).toContain('"aborted"')
})

test('toSSE() that cannot write an update ends the run', async () => {
  const client = scriptedClient([{ updates: ['One'], hang: true }])
  const stream = new Agent({ client })
    .run('Hello', { stream: true })
    .withTransformHook((update) => ({ ...update, contents: [text(1n as never)] }))

  const body = await new Response(toSSE(stream)).text()

  expect(body).toBe('event: error\ndata: {"code":"run_failed"}\n\n')
  expect((await stream.outcome()).status).toBe('aborted')
  expect(client.openStreams).toBe(0)
})

test('toSSE() of a call that restarts ends with exactly the final response', async () => {
  const retry = chatMiddleware('retry', async (_context, callNext) => {
    await callNext().catch(callNext)
  })
  const client = scriptedClient([{ updates: ['Wrong'], error: new Error('cut') }, 'Right.'])
  const stream = new Agent({ client, middleware: retry }).run('Hello', { stream: true })

  const body = await new Response(toSSE(stream)).text()

  const events = body
    .trimEnd()
    .split('\n\n')
    .map((event) => /^event: (\w+)\ndata: (.*)$/.exec(event)!.slice(1) as [string, string])
  const updates = events.slice(0, -1).map(([, data]) => JSON.parse(data) as AgentResponseUpdate)
  expect(events.filter(([name]) => name === 'restart')).toHaveLength(1)
  expect(foldUpdates(updates).messages).toEqual((await stream.finalResponse()).messages)
})
