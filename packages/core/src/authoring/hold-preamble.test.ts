import { scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { attemptOf, holdPreamble } from '../authoring.ts'
import type { ChatContext } from '../index.ts'
import { Agent, chatMiddleware, ProviderError } from '../index.ts'
import { readUpdates } from '../run/run.test-helper.ts'

const broken = new ProviderError('broken', { kind: 'server', provider: 'scripted' })

const onceMore = (hold: boolean) =>
  chatMiddleware('once-more', async (context, callNext) => {
    if (hold) context.transformUpdates(holdPreamble())
    await callNext().catch(async (error: unknown) => {
      context.run.recordAttempt(attemptOf(context, { error }))
      await callNext()
    })
  })

const responseIds = async (hold: boolean) => {
  const client = scriptedClient([
    { updates: [{ responseId: 'one' }], error: broken },
    { updates: [{ responseId: 'two' }, 'Hi.', { finishReason: 'stop' }] },
  ])
  const agent = new Agent({ client, middleware: onceMore(hold) })
  const { updates, response } = await readUpdates(agent)
  return { ids: updates.flatMap(({ responseId }) => responseId ?? []), response }
}

it('a preamble that is held back is sent once, however often the call begins anew', async () => {
  expect((await responseIds(false)).ids).toEqual(['one', 'two'])
  const { ids, response } = await responseIds(true)
  expect(ids).toEqual(['two'])
  expect(response.text).toBe('Hi.')
  expect(response.attempts).toEqual([
    { iteration: 0, provider: 'scripted', status: 'failed', reason: 'server' },
  ])
})

it('a preamble leaves with the first content', async () => {
  const left: unknown[] = []
  const gate = holdPreamble()
  const controller = { enqueue: (update: unknown) => void left.push(update), terminate: () => {} }
  const preamble = { contents: [], responseId: 'one' }
  const first = { contents: [{ type: 'text', text: 'Hi.' }] } as const

  await gate.start?.(controller)
  await gate.transform?.(preamble, controller)
  const before = [...left]
  await gate.transform?.(first, controller)

  expect(before).toEqual([])
  expect(left).toEqual([preamble, first])
})

it('an answer without any content still has its preamble', async () => {
  const client = scriptedClient([{ updates: [{ responseId: 'one' }, { finishReason: 'stop' }] }])
  const agent = new Agent({ client, middleware: onceMore(true) })

  const { updates } = await readUpdates(agent)

  expect(updates).toMatchObject([{ responseId: 'one' }, { finishReason: 'stop' }])
})

it('a call that is not streamed is awaited throughout', async () => {
  const seen: boolean[] = []
  const watch = chatMiddleware('watch', async (context, callNext) => {
    seen.push(context.awaited)
    await callNext()
    seen.push(context.awaited)
  })

  await new Agent({ client: scriptedClient(['One two.']), middleware: watch }).run('Hello')

  expect(seen).toEqual([true, true])
})

it('a call is awaited only while its reader asks for more', async () => {
  const contexts: ChatContext[] = []
  const watch = chatMiddleware('watch', async (context, callNext) => {
    contexts.push(context)
    await callNext()
  })
  const agent = new Agent({ client: scriptedClient(['One two.']), middleware: watch })
  const stream = agent.run('Hello', { stream: true })[Symbol.asyncIterator]()

  const first = stream.next()
  const whileAsked = contexts[0]?.awaited
  await first
  const whileRead = contexts[0]?.awaited
  await stream.return?.()

  expect([whileAsked, whileRead]).toEqual([true, false])
})
