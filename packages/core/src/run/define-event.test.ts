import { scriptedClient } from '@lamella/testing'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type { AgentResponse, AgentResponseUpdate } from '../index.ts'
import { Agent, agentMiddleware, defineEvent, foldUpdates, ResponseStream, tee } from '../index.ts'

type RunStream = ResponseStream<AgentResponseUpdate, AgentResponse>

const progress = defineEvent({ type: 'progress', data: z.object({ percent: z.number() }) })
const permission = defineEvent({
  type: 'permission',
  data: z.object({ tool: z.string() }),
  answer: z.boolean(),
  timeoutMs: 1000,
})

const asking = new Agent({
  client: scriptedClient(() => 'Hi.'),
  middleware: agentMiddleware('ask', async (context, callNext) => {
    context.run.emit(progress({ percent: 50 }))
    const allowed = await context.run.request(permission({ tool: 'search' }))
    expectTypeOf(allowed).toEqualTypeOf<boolean>()
    if (allowed) await callNext()
    else context.result = 'No.'
  }),
})

describe('an event that is defined', () => {
  it('reaches the caller, and its answer comes back with its type', async () => {
    const seen: unknown[] = []
    const stream = asking.run('Hi', { stream: true })
    for await (const { event } of stream) {
      if (progress.is(event)) seen.push(event.data.percent)
      if (permission.is(event)) stream.respond(event.id!, event.data.tool === 'search')
    }

    expect(seen).toEqual([50])
    expect((await stream.finalResponse()).text).toBe('Hi.')
  })

  it.each<[string, (of: RunStream) => ResponseStream<AgentResponseUpdate, { text: string }>]>([
    ['withFinalizer()', (of) => of.withFinalizer((final) => final)],
    ['map()', (of) => of.map((update) => update, foldUpdates)],
    ['tee()', (of) => tee(of)[0]],
    ['fromAwaitable()', (of) => ResponseStream.fromAwaitable(Promise.resolve(of))],
  ])('can be answered through what %s makes of the stream', async (_, derive) => {
    const stream = derive(asking.run('Hi', { stream: true }))
    const told: boolean[] = []
    for await (const { event } of stream) {
      if (permission.is(event))
        told.push(stream.respond(event.id!, true), stream.respond(event.id!, true))
    }

    expect(told).toEqual([true, false])
    expect((await stream.finalResponse()).text).toBe('Hi.')
  })

  it('an answer that comes while the event is still being told is not lost', async () => {
    const response = await asking.run('Hi', {
      onRequest: (event) => (permission.is(event) ? false : undefined),
    })

    expect(response.text).toBe('No.')
  })

  it('an answer that does not fit, and a second one, are told', async () => {
    const stream = asking.run('Hi', { stream: true })
    const told: boolean[] = []
    const reading = (async () => {
      for await (const { event } of stream) {
        if (permission.is(event))
          told.push(stream.respond(event.id!, 'yes'), stream.respond(event.id!, true))
      }
    })()

    await expect(reading).rejects.toMatchObject({ code: 'schema_invalid' })
    expect(told).toEqual([true, false])
  })

  it('data that does not fit throws, and is in no message', () => {
    expect(() => progress({ percent: 'a secret' as never })).toThrow(
      expect.objectContaining({
        message: 'event "progress" got data that does not fit its schema',
      }),
    )
  })

  it('is not taken for another one, or for one with other data', () => {
    expect(progress.is({ type: 'progress', data: {}, runId: 'r' })).toBe(false)
    expect(progress.is({ type: 'other', data: { percent: 1 }, runId: 'r' })).toBe(false)
    expect(progress.is(undefined)).toBe(false)
  })

  it('without a schema takes any data', () => {
    const note = defineEvent({ type: 'note' })

    expect(note({ any: 1 })).toMatchObject({ type: 'note', data: { any: 1 } })
    expect(note.is({ type: 'note', data: undefined, runId: 'r' })).toBe(true)
  })

  it('cannot have a schema that is async', () => {
    const late = defineEvent({ type: 'late', data: z.string().refine(async () => true) })

    expect(() => late('text')).toThrow('defineEvent: `data` of "late" must be a schema that is not')
  })

  it('needs a type', () => {
    expect(() => defineEvent({ type: '' })).toThrow('`type`')
  })
})
