import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  functionMiddleware,
  tool,
} from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { flatRows, onionOf } from '../reading/onion.ts'
import { again, note, overloaded, recorded, shout } from '../recording.test-helper.ts'
import { recorder } from './recorder.ts'
import type { RecorderOptions } from './recorder-options.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
const memory = { write: () => {} }

it('writes what each middleware did to the request and to the stream', async () => {
  const client = scriptedClient(['one two'])

  const { of } = await recorded({ capture: 'full' }, async (record) => {
    const agent = new Agent({
      name: 'helper',
      client,
      middleware: record.middleware([note(), shout()]),
    })
    await agent.run('Hello', { stream: true }).finalResponse()
  })

  expect(of('run')).toMatchObject([
    {
      v: 1,
      agent: 'helper',
      stream: true,
      capture: 'full',
      provider: 'scripted',
      middleware: { agent: [], chat: [{ name: 'note' }, { name: 'shout' }], function: [] },
    },
  ])
  expect(of('in').filter(({ c }) => c === 1)).toMatchObject([
    { p: 0, messages: { same: 0, rest: [1] } },
    { p: 1, messages: { same: 1, rest: [2] }, instructions: { text: 'Answer in English.' } },
    { p: 2 },
  ])
  expect(of('msg').map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
    ['user', 'Hello'],
    ['user', 'Be brief.'],
    ['assistant', 'ONE TWO'],
  ])
  expect(of('up').map(({ c, p, to, run, text }) => [c, p, to, run, text])).toEqual([
    [1, 2, undefined, undefined, 'one '],
    [1, 1, 0, 0, 'ONE '],
    [1, 2, undefined, undefined, 'two'],
    [1, 1, 0, 0, 'TWO'],
    [1, 2, undefined, undefined, undefined],
    [1, 1, 0, 0, undefined],
  ])
  expect(of('end')).toMatchObject([{ status: 'completed' }])
})

it('writes each message once, however often it is sent', async () => {
  const steps = [callFunction('look'), callFunction('look'), callFunction('look'), 'Done.']

  const { of, runs } = await recorded({ capture: 'full' }, (record) =>
    new Agent({
      client: scriptedClient(steps),
      tools: [look],
      middleware: record.middleware(),
    }).run('Hi'),
  )

  expect(of('msg')).toHaveLength(8)
  expect(runs[0]?.calls.at(-1)?.passes[0]?.request.messages).toHaveLength(7)
})

it('writes every attempt with its failure, and what the run cost', async () => {
  const client = scriptedClient([{ updates: ['One '], error: overloaded() }, 'Two.'], {
    model: 'm-1',
  })
  const prices = { 'm-1': { input: 2, output: 10 } }

  const { of } = await recorded({ prices }, async (record) => {
    const agent = new Agent({ client, middleware: record.middleware(again()) })
    await agent.run('Hi', { stream: true }).finalResponse()
  })

  const left = of('out').filter(({ c, p }) => c === 1 && p === 1)
  expect(left).toMatchObject([
    { exit: 'failed', error: 'overloaded', status: 529, retryable: true },
    { n: 2, finish: 'stop', usage: { inputTokens: 10, outputTokens: 5 }, cost: 0.00007 },
  ])
  expect(of('again').length + of('up').filter(({ restart }) => restart).length).toBeGreaterThan(0)
  expect(of('end')[0]?.cost).toBeCloseTo(0.00007)
})

it('writes tool calls with arguments, result and the middleware that answered', async () => {
  const policy = functionMiddleware('policy', async (context, callNext) => {
    if (context.arguments['at'] === 2) context.result = 'denied'
    else await callNext()
  })
  const steps = [[callFunction('look', { at: 1 }), callFunction('look', { at: 2 })], 'Done.']

  const { runs } = await recorded({ capture: 'full' }, (record) =>
    new Agent({
      client: scriptedClient(steps),
      tools: [look],
      middleware: record.middleware(policy),
    }).run('Hi'),
  )

  const calls = runs[0]?.calls.filter(({ line }) => line.type === 'tool')
  expect(
    calls?.map(({ passes }) => [
      passes[0]?.request.args?.text,
      passes[0]?.inside.length,
      passes[0]?.result?.parts?.[0]?.text,
    ]),
  ).toEqual([
    ['{"at":1}', 1, 'seen'],
    ['{"at":2}', 0, 'denied'],
  ])
})

it('writes a sub-agent’s run under the tool call that started it', async () => {
  const { runs } = await recorded({}, async (record) => {
    const helper = new Agent({
      name: 'expert',
      client: scriptedClient(['Forty-two.']),
      middleware: record.middleware(),
    })
    const boss = new Agent({
      name: 'boss',
      client: scriptedClient([callFunction('expert', { task: 'Count.' }), 'It is 42.']),
      tools: [agentTool(helper, { description: 'Counts.' })],
      middleware: record.middleware(),
    })
    await boss.run('How many?')
  })

  expect(runs).toHaveLength(1)
  const toolCall = runs[0]?.calls.find(({ line }) => line.type === 'tool')
  expect(toolCall?.children.map(({ line, end }) => [line?.agent, end?.status])).toEqual([
    ['expert', 'completed'],
  ])
})

it('keeps runs apart that are made at the same time', async () => {
  const { runs } = await recorded({ capture: 'full' }, (record) => {
    const agent = new Agent({
      client: scriptedClient((request) => `Answer to ${request.messages.length}`),
      middleware: record.middleware(shout()),
    })
    return Promise.all([agent.run(['a']), agent.run(['a', 'b']), agent.run(['a', 'b', 'c'])])
  })

  expect(runs.map(({ end }) => end?.status)).toEqual(['completed', 'completed', 'completed'])
  expect(new Set(runs.map(({ line }) => line?.id)).size).toBe(3)
})

it('records a client without an agent', async () => {
  let text = ''
  const record = recorder({ sink: { write: (lines) => void (text += lines) }, level: 'chat' })
  const client = scriptedClient(['Hello.'], { middleware: record.middleware(shout()) })

  await client.getResponse('Hi')
  await record.flush()

  expect(text).toContain('"level":"chat"')
  expect(text.split('\n').filter((line) => line.includes('"k":"in"'))).toHaveLength(2)
})

it('tells how a run was blocked, paused or aborted', async () => {
  const run = (
    steps: Parameters<typeof scriptedClient>[0],
    execute?: () => unknown,
    signal?: AbortSignal,
  ) =>
    recorded({}, async (record) => {
      const pay = tool({
        name: 'pay',
        description: '',
        approval: execute ? 'never' : 'always',
        execute: execute ?? (() => 'paid'),
      })
      const stop = agentMiddleware('stop', async (context, callNext) => {
        await callNext()
        if (context.messages.length > 9) throw new Error('never')
      })
      const agent = new Agent({
        client: scriptedClient(steps),
        tools: [pay],
        middleware: record.middleware(stop),
      })
      await agent.run('Hi', signal && { signal }).catch(() => {})
    })
  const controller = new AbortController()

  const paused = await run([callFunction('pay')])
  const aborted = await run(
    [callFunction('pay'), 'Never.'],
    () => controller.abort(),
    controller.signal,
  )
  const failed = await run([new Error('broken')])

  expect([paused, aborted, failed].map(({ of }) => of('end')[0]?.status)).toEqual([
    'paused',
    'aborted',
    'failed',
  ])
})

it('records only what `when` says', async () => {
  const { runs } = await recorded({ when: ({ run }) => run.agentName === 'b' }, async (record) => {
    for (const name of ['a', 'b'])
      await new Agent({
        name,
        client: scriptedClient(['Hi.']),
        middleware: record.middleware(),
      }).run('Hi')
  })

  expect(runs.map(({ line }) => line?.agent)).toEqual(['b'])
})

it('is not there at all when it is off', () => {
  const list = [shout()]
  const record = recorder({ sink: memory, mode: 'off' })

  expect(record.middleware([list])).toEqual(list)
})

it('stops writing at `maxBytes`, and says how much it left out', async () => {
  const { of, text } = await recorded({ capture: 'full', maxBytes: 3000 }, async (record) => {
    const updates = Array.from({ length: 500 }, (_, index) => `word ${index} `)
    const agent = new Agent({
      client: scriptedClient([{ updates: [...updates, { finishReason: 'stop' }] }]),
      middleware: record.middleware(),
    })
    await agent.run('Hi', { stream: true }).finalResponse()
  })

  expect(text.length).toBeLessThan(5000)
  expect(of('end')[0]?.dropped).toBeGreaterThan(400)
})

it('cuts long texts at `maxTextChars`, and never within a character', async () => {
  const { of } = await recorded({ capture: 'full', maxTextChars: 4 }, (record) =>
    new Agent({ client: scriptedClient(['abc😀def']), middleware: record.middleware() }).run('Hi'),
  )

  expect(of('msg').at(-1)?.parts[0]).toEqual({ type: 'text', len: 8, text: 'abc', cut: true })
})

it('never fails a run because its sink fails, and tells of it', async () => {
  const errors: unknown[] = []
  const sink = { write: () => Promise.reject(new Error('disk full')) }
  const record = recorder({ sink, onEvent: ({ error }) => errors.push(error) })
  const agent = new Agent({ client: scriptedClient(['Hello.']), middleware: record.middleware() })

  const { text } = await agent.run('Hi')
  await record.flush()

  expect(text).toBe('Hello.')
  expect(String(errors[0])).toBe('Error: disk full')
})

it('does not wait for a sink that hangs, and lets a caller stop waiting', async () => {
  const record = recorder({ sink: { write: () => new Promise(() => {}) } })
  const agent = new Agent({ client: scriptedClient(['Hello.']), middleware: record.middleware() })

  const { text } = await agent.run('Hi')
  const waiting = record.flush(AbortSignal.abort(new Error('enough')))

  expect(text).toBe('Hello.')
  await expect(waiting).rejects.toThrow('enough')
})

it('hands a sink whole lines, one write at a time', async () => {
  const writes: string[] = []
  let open = 0
  let most = 0
  const sink = {
    async write(lines: string) {
      most = Math.max(most, ++open)
      await Promise.resolve()
      writes.push(lines)
      open--
    },
  }
  const record = recorder({ sink })
  const updates = Array.from({ length: 5000 }, () => 'a ')
  const agent = new Agent({
    client: scriptedClient([{ updates: [...updates, { finishReason: 'stop' }] }]),
    middleware: record.middleware(),
  })

  await agent.run('Hi', { stream: true }).finalResponse()
  await record.flush()

  expect(most).toBe(1)
  expect(writes.length).toBeGreaterThan(1)
  expect(writes.every((lines) => lines.endsWith('\n'))).toBe(true)
})

it('steps aside in a run that another list of its own records', async () => {
  const { runs } = await recorded({}, async (record) => {
    const client = scriptedClient(['Hello.'])
    const agent = new Agent({
      client,
      middleware: [record.middleware(shout()), record.middleware(note())],
    })
    await agent.run('Hi')
  })

  expect(runs.map(({ line }) => line?.middleware.chat)).toEqual([[{ name: 'shout' }]])
})

it.each<[Partial<RecorderOptions>, string]>([
  [{ sink: undefined as never }, 'recorder: `sink.write` must be a function'],
  [
    { capture: 'all' as never },
    'recorder: `capture` must be one of facts, redacted, full, got "all"',
  ],
  [{ capture: 'redacted' }, "recorder: `redact` must be a function with `capture: 'redacted'`"],
  [{ redact: (text) => text }, "recorder: `capture` must be 'redacted' with `redact`"],
  [{ maxBytes: 10 }, 'recorder: `maxBytes` must be a whole number from 1000 up, got 10'],
  [
    { prices: { m: { input: -1, output: 1 } } },
    'recorder: `prices.m.input` must be a number from 0 up, got -1',
  ],
  [{ captures: 'full' } as never, 'recorder: unknown option `captures`; did you mean `capture`?'],
])('says what is wrong with %o', (options, message) => {
  expect(() => recorder({ sink: memory, ...options })).toThrow(message)
})

it('names an unknown middleware level as core does', () => {
  const wrong = { ...chatMiddleware('odd', async () => {}), level: 'other' } as never
  const record = recorder({ sink: memory })

  expect(
    () => new Agent({ client: scriptedClient([]), middleware: record.middleware(wrong) }),
  ).toThrow('unknown level')
})

it('names the client of each attempt where it is another one than the run has', async () => {
  const east = scriptedClient([overloaded()], { name: 'east', provider: 'p', model: 'm' })
  const west = scriptedClient(['West.'], { name: 'west', provider: 'p', model: 'm' })
  const toWest = chatMiddleware('to-west', (context, callNext) =>
    callNext().catch(async () => {
      context.client = west
      await callNext()
    }),
  )

  const { of, runs } = await recorded({}, (record) =>
    new Agent({ client: east, middleware: record.middleware([toWest]) }).run('Hi'),
  )

  expect(of('run')).toMatchObject([{ provider: 'p', client: 'east' }])
  expect(
    of('in')
      .filter(({ p }) => p === 1)
      .map(({ client }) => client),
  ).toEqual([undefined, 'west'])
  const core = flatRows(onionOf(runs[0]!)).find(({ row }) => row.kind === 'core')?.row
  expect(core?.name).toBe('west m')
  expect(core?.marks.map(({ text }) => text)).toEqual(['attempt 1: overloaded 529'])
})
