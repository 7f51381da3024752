import type { MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  agentTool,
  chatMiddleware,
  jsonSchema,
  tool,
  withMiddleware,
} from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it, vi } from 'vitest'
import { limitedJson } from './base/limited-json.ts'
import { record } from './telemetry.test-helper.ts'
import { tracing } from './tracing.ts'
import type { TracingOptions } from './base/tracing-options.ts'

const words = {
  input: 'input-word',
  instructions: 'instructions-word',
  arguments: 'arguments-word',
  result: 'result-word',
  answer: 'answer-word',
}
const all = Object.values(words)

async function exportedOf(
  mode: 'plain' | 'streamed',
  options: TracingOptions,
  middlewares: MiddlewareInput = [],
) {
  const recorded = record()
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object' }),
    execute: () => ({ found: words.result }),
  })
  const client = scriptedClient([callFunction('look', { for: words.arguments }), words.answer])
  const agent = new Agent({
    client,
    tools: [look],
    instructions: words.instructions,
    middleware: [tracing({ ...recorded.options, ...options }), middlewares],
  })
  await runIn(mode, agent, { input: words.input }).catch(() => {})
  return { recorded, exported: await recorded.exported() }
}

const seenIn = (exported: string) => all.filter((word) => exported.includes(word))

describe.each(runModes)('content, %s', (mode) => {
  it('is nowhere in what is exported, unless it was asked for', async () => {
    expect(seenIn((await exportedOf(mode, {})).exported)).toEqual([])
  })

  it('is not in what is exported of failures, of middlewares and of their events', async () => {
    const leaky = chatMiddleware('leaky', async ({ run, messages }, callNext) => {
      run.emit({ type: 'note', data: { text: words.input } })
      run.emit({ type: 'cache', data: { status: 'miss', text: messages, long: 'x'.repeat(300) } })
      await callNext()
      throw new Error(`It said ${words.answer}`)
    })

    const { exported } = await exportedOf(mode, {}, leaky)

    expect(seenIn(exported)).toEqual([])
    expect(exported).toContain('lamella.cache')
    expect(exported).not.toContain('xxx')
    expect(exported).not.toContain('lamella.note')
  })

  it('is in attributes by the names of the conventions', async () => {
    const { recorded, exported } = await exportedOf(mode, { captureContent: 'attributes' })

    expect(seenIn(exported)).toEqual(all)
    const chat = (await recorded.spans()).findLast(({ name }) => name === 'chat')!
    const read = (name: string): unknown => JSON.parse(String(chat.attributes[name]))
    expect(read('gen_ai.system_instructions')).toEqual([
      { type: 'text', content: words.instructions },
    ])
    expect(read('gen_ai.input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: words.input }] },
      {
        role: 'assistant',
        parts: [
          { type: 'tool_call', id: 'call_1', name: 'look', arguments: { for: words.arguments } },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_call_response',
            id: 'call_1',
            response: [{ type: 'text', content: JSON.stringify({ found: words.result }) }],
          },
        ],
      },
    ])
    expect(read('gen_ai.output.messages')).toEqual([
      {
        role: 'assistant',
        parts: [{ type: 'text', content: words.answer }],
        finish_reason: 'stop',
      },
    ])
    const call = await recorded.span('execute_tool look')
    expect(JSON.parse(String(call.attributes['gen_ai.tool.call.arguments']))).toEqual({
      for: words.arguments,
    })
    expect(JSON.parse(String(call.attributes['gen_ai.tool.call.result']))).toEqual({
      found: words.result,
    })
  })

  it('is in events, where that was chosen', async () => {
    const { recorded } = await exportedOf(mode, { captureContent: 'events' })

    const spans = await recorded.spans()
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain('-word')
    expect(spans.flatMap(({ events }) => events.map(({ name }) => name))).toEqual([
      'gen_ai.client.inference.operation.details',
      'gen_ai.client.inference.operation.details',
      'lamella.execute_tool.details',
      'gen_ai.client.inference.operation.details',
    ])
  })

  it('is in the events of 1.36, where that version was chosen', async () => {
    const { recorded } = await exportedOf(mode, { captureContent: 'events', semconv: '1.36' })

    const chat = (await recorded.spans()).findLast(({ name }) => name === 'chat')!
    expect(chat.events.map(({ name }) => name)).toEqual([
      'gen_ai.user.message',
      'gen_ai.assistant.message',
      'gen_ai.tool.message',
      'gen_ai.choice',
    ])
  })

  it('is redacted, every text of it, and left out where that fails', async () => {
    const redact = (text: string) => text.replaceAll(/\w+-word/g, '***')
    const clean = await exportedOf(mode, { captureContent: 'attributes', redact })
    const failed = await exportedOf(mode, {
      captureContent: 'events',
      redact: () => {
        throw new Error('no')
      },
    })

    expect(seenIn(clean.exported)).toEqual([])
    expect(clean.exported).toContain('***')
    expect(seenIn(failed.exported)).toEqual([])
  })

  it.each(['input', 'output', 'arguments', 'result'] as const)(
    'of a run is nowhere if a guardrail blocks its %s',
    async (stage) => {
      const judge = guardrail({
        name: 'guardrail',
        applyTo: [stage],
        level: 'agent',
        check: ({ text }) => ({ action: /-word/.test(text) ? 'block' : 'allow' }),
      })

      const { recorded, exported } = await exportedOf(mode, { captureContent: 'attributes' }, judge)

      expect(seenIn(exported)).toEqual([])
      const run = await recorded.span('invoke_agent')
      expect(run.attributes['lamella.status']).toBe('blocked')
      expect(run.attributes['lamella.block.guardrail']).toBe('guardrail')
    },
  )

  it('of a sub-agent is nowhere if its caller is blocked', async () => {
    const recorded = record()
    const traced = tracing({ ...recorded.options, captureContent: 'attributes' })
    const inside = new Agent({
      name: 'inside',
      client: scriptedClient([words.result]),
      middleware: traced,
    })
    const client = scriptedClient([callFunction('inside', { task: words.arguments }), 'Never.'])
    const judge = guardrail({
      name: 'g',
      applyTo: ['result'],
      check: () => ({ action: 'block' }),
    })
    const agent = new Agent({ client, tools: [agentTool(inside)], middleware: [traced, judge] })

    await runIn(mode, agent)

    expect(seenIn(await recorded.exported())).toEqual([])
    expect(await recorded.tree()).toContain(
      'invoke_agent > execute_tool inside > invoke_agent inside > chat',
    )
  })

  it('of a client on its own is there, but nowhere if a guardrail blocks the call', async () => {
    const recorded = record()
    const middlewares = tracing({
      ...recorded.options,
      level: 'chat',
      captureContent: 'attributes',
    })
    const judge = guardrail({
      name: 'guardrail',
      level: 'chat',
      applyTo: ['output'],
      check: ({ text }) => ({ action: text === 'bad' ? 'block' : 'allow' }),
    })
    const client = withMiddleware(scriptedClient([words.answer, 'bad']), [middlewares, judge])
    const ask = (input: string) =>
      mode === 'plain'
        ? client.getResponse(input)
        : client.getResponse(input, { stream: true }).finalResponse()

    await ask(words.input)
    await ask('something else').catch(() => {})

    const [first, second] = await recorded.spans()
    expect(seenIn(JSON.stringify(first?.attributes))).toEqual([words.input, words.answer])
    expect(second?.attributes['lamella.status']).toBe('blocked')
    expect(JSON.stringify(second?.attributes)).not.toContain('something else')
  })

  it('is captured of a share of the runs', async () => {
    let share = 0.1
    const options = {
      captureContent: 'attributes',
      sampleContent: 0.5,
      random: () => share,
    } as const

    expect(seenIn((await exportedOf(mode, options)).exported)).toEqual(all)
    share = 0.9
    expect(seenIn((await exportedOf(mode, options)).exported)).toEqual([])
  })

  it('is that of the same runs in each process, without their random numbers', async () => {
    const seen = async (runId: string): Promise<boolean> => {
      const recorded = record()
      const middleware = tracing({
        ...recorded.options,
        captureContent: 'attributes',
        sampleContent: 0.5,
      })
      const random = vi.fn<() => number>(() => 0.1)
      const agent = new Agent({ client: scriptedClient([words.answer]), middleware, random })
      const untraced = vi.fn<() => number>(() => 0.1)
      const plain = new Agent({ client: scriptedClient([words.answer]), random: untraced })
      await runIn(mode, agent, { input: words.input, runId })
      await runIn(mode, plain, { input: words.input, runId })
      expect(random.mock.calls).toHaveLength(untraced.mock.calls.length)
      return (await recorded.exported()).includes(words.answer)
    }
    const ids = Array.from({ length: 60 }, (_, at) => `run-${at}`)
    const first = await Promise.all(ids.map(seen))
    const again = await Promise.all(ids.map(seen))

    expect(again).toEqual(first)
    const share = first.filter(Boolean).length
    expect([share > 15, share < 45]).toEqual([true, true])
  })

  it('of an error is there too, and its time is that of the failure', async () => {
    const broken = agentMiddleware('broken', () => Promise.reject(new Error(words.answer)))
    const { recorded } = await exportedOf(mode, { captureContent: 'attributes' }, broken)

    const { events } = await recorded.span('invoke_agent')
    expect(events[0]?.name).toBe('exception')
    expect(events[0]?.attributes?.['exception.message']).toContain(words.answer)
  })
})

describe('a limit on captured content', () => {
  it('cuts long texts and keeps the JSON whole', () => {
    const messages = [{ role: 'user', parts: [{ type: 'text', content: 'é'.repeat(10_000) }] }]
    const json = limitedJson(messages, 512)

    expect(new TextEncoder().encode(json).length).toBeLessThanOrEqual(512)
    expect(JSON.parse(json)).toMatchObject([{ role: 'user', parts: [{ type: 'text' }] }])
  })

  it('leaves out the oldest of many messages', () => {
    const messages = Array.from({ length: 1000 }, (_, index) => ({ content: `message ${index}` }))
    const kept = JSON.parse(limitedJson(messages, 512)) as typeof messages

    expect(kept.at(-1)).toEqual({ content: 'message 999' })
    expect(JSON.stringify(kept).length).toBeLessThanOrEqual(512)
  })

  it('says so where nothing fits', () => {
    expect(limitedJson({ a: { b: Array.from({ length: 99 }, (_, index) => index) } }, 64)).toBe(
      '"…"',
    )
  })
})
