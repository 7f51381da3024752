import { agUiHandler } from '../ag-ui.ts'
import { uiStreamHandler } from '../ui-stream.ts'
import { callFunction } from '@lamella/testing'
import { memoryStore, messageText, tool } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { describe, expect, it } from 'vitest'
import type { ChatServiceOptions } from './chat-options.ts'
import type { Served } from '../sse/served.test-helper.ts'
import { base, eventsOf, lastOf, refusalOf, served } from '../sse/served.test-helper.ts'

/** A chat whose run is in its tool until `free()`. */
async function busy(options: Partial<ChatServiceOptions>, answers = ['Done.', 'More.']) {
  let free = (): void => {}
  let isWorking = (): void => {}
  const works = new Promise<void>((resolve) => (isWorking = resolve))
  const gate = new Promise<void>((resolve) => (free = resolve))
  const work = tool({
    name: 'work',
    description: '',
    execute: async () => {
      isWorking()
      await gate
      return 'worked'
    },
  })
  const rude = guardrail({
    name: 'rude',
    applyTo: ['input'],
    check: ({ text }) => ({ action: text.includes('rude') ? 'block' : 'allow' }),
  })
  const script = [callFunction('work', {}, 'c1'), ...answers]
  const site = served(
    script,
    { headersAfterMs: 0, ...options },
    { tools: [work], middleware: rude },
  )
  const first = site.post({ chat: 'c', input: 'Go' }).then(eventsOf)
  await works
  return { ...site, first, free }
}

const lastRead = ({ client }: Served): string[] => client.requests.at(-1)!.messages.map(messageText)

describe('a message to a chat with a run', () => {
  it('is rejected by default', async () => {
    const { post, first, free } = await busy({})

    expect(await refusalOf(await post({ chat: 'c', input: 'Hurry' }))).toEqual([409, 'run_active'])

    free()
    await first
  })

  it.each([
    ['steer', ['Go', '', '', 'Hurry.'], 'Done.'],
    ['queue', ['Go', '', '', 'Done.', 'Hurry.'], 'More.'],
  ] as const)('joins it with %s, and both readers see where', async (onBusy, read, last) => {
    const site = await busy({ onBusy })

    const joined = await site.post({ chat: 'c', input: 'Hurry.', id: 'm1' })
    site.free()

    const event = { type: 'steering', data: { type: 'delivered', id: 'm1', edited: false } }
    expect(await eventsOf(joined)).toMatchObject([
      ['update', { event }],
      ['done', { status: 'delivered', pending: [] }],
    ])
    const events = await site.first
    const at = events.findIndex(([, data]) => JSON.stringify(data).includes('"steering"'))
    expect(events[at]).toMatchObject(['update', { event }])
    expect(JSON.stringify(events.slice(at))).toContain(last)
    expect(lastRead(site)).toEqual(read)
    const { messages } = await site.service.history({ principal: 'ann', chat: 'c' })
    expect(JSON.stringify(messages)).toContain('Hurry.')
  })

  it('of another user is a chat of its own', async () => {
    const site = await busy({ onBusy: 'steer' })

    const other = await site.post({ chat: 'c', input: 'I am Bob.' }, { 'x-user': 'bob' })
    await other.text()
    site.free()
    await site.first

    const { messages } = await site.service.history({ principal: 'ann', chat: 'c' })
    expect(JSON.stringify(messages)).not.toContain('Bob')
  })

  it('is judged by the guardrails of the run', async () => {
    const site = await busy({ onBusy: 'steer' })

    const joined = await site.post({ chat: 'c', input: 'rude words' })
    site.free()

    expect(await eventsOf(joined)).toMatchObject([
      ['update', { event: { data: { type: 'not-delivered', reason: 'rejected' } } }],
      ['done', { status: 'not-delivered' }],
    ])
    await site.first
  })

  it.each([
    ['too many', { maxWaiting: 1 }, 'Then?', [429, 'inbox_full']],
    ['one that is too long', { input: { maxChars: 5 } }, 'Longer', [400, 'invalid_input']],
    ['one that is none', {}, [{ type: 'approval-response' }], [400, 'invalid_input']],
  ])('refuses %s', async (_, options, input, refusal) => {
    const site = await busy({ onBusy: 'steer', headersAfterMs: 30, ...options })
    const waiting = site.post({ chat: 'c', input: 'First' })
    await new Promise((resolve) => setTimeout(resolve, 5))

    expect(await refusalOf(await site.post({ chat: 'c', input }))).toEqual(refusal)

    site.free()
    await (await waiting).text()
    await site.first
  })

  it.each([
    ['steer', [409, 'run_paused']],
    ['queue', [409, 'run_paused']],
    ['reject', expect.stringContaining('Hello.')],
  ] as const)(
    'waits for an open request unless it is rejected anyway: %s',
    async (onBusy, expected: unknown) => {
      const site = served(
        [callFunction('refund', { amount: 5 }, 'c1'), 'Hello.', 'Paid.', 'Bye.'],
        { onBusy },
      )
      const [, done] = await lastOf(await site.post({ chat: 'c', input: 'Refund' }))

      const message = await site.post({ chat: 'c', input: 'Hurry' })

      const told = await (message.ok ? message.text() : refusalOf(message))
      expect(told).toEqual(expected)
      const answers = { [done.pending[0]!.id]: false }
      expect(await lastOf(await site.post({ chat: 'c', answers }))).toMatchObject(['done', {}])
      expect(await lastOf(await site.post({ chat: 'c', input: 'Thanks' }))).toBeDefined()
    },
  )

  it('is taken back when its sender leaves, unless runs continue', async () => {
    const leaves = async (onDisconnect: 'cancel' | 'continue'): Promise<boolean> => {
      const site = await busy({ onBusy: 'steer', onDisconnect })
      const left = new AbortController()
      const joined = await site.post({ chat: 'c', input: 'Hurry.' }, {}, left.signal)
      left.abort()
      if (onDisconnect === 'continue') site.free()
      await joined.text().catch(() => {})
      site.free()
      await site.first
      return lastRead(site).includes('Hurry.')
    }

    expect([await leaves('cancel'), await leaves('continue')]).toEqual([false, true])
  })

  it('joins the run of another process over the store', async () => {
    const store = memoryStore()
    const here = await busy({ onBusy: 'steer', store })
    const there = served([], { onBusy: 'steer', store, headersAfterMs: 0 })

    const joined = await there.post({ chat: 'c', input: 'Hurry.' })
    here.free()

    expect(await joined.text()).toContain('"status":"delivered"')
    await here.first
    expect(lastRead(here)).toContain('Hurry.')
    expect(there.client.requests).toEqual([])
  })

  it('is answered in the formats of the AI SDK and of AG-UI', async () => {
    const site = await busy({ onBusy: 'steer' })
    const send = (handler: Served['handler'], body: object): Promise<Response> =>
      handler(
        new Request(base, {
          method: 'POST',
          headers: { 'x-user': 'ann', 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      )

    const ui = await send(uiStreamHandler(site.service), {
      id: 'c',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'One' }] }],
    })
    const agUi = await send(agUiHandler(site.service), {
      threadId: 'c',
      runId: 'r',
      messages: [{ id: 'u2', role: 'user', content: 'Two' }],
    })
    site.free()

    const chunks = await ui.text()
    expect(chunks).toContain('"type":"data-steering","data":{"type":"delivered","id":"u1"')
    expect(chunks).toContain('data: {"type":"finish"}')
    const events = await agUi.text()
    expect(events).toContain('"name":"lamella.steering","value":{"type":"delivered","id":"u2"')
    expect(events).toContain('RUN_FINISHED')
    await site.first
    expect(lastRead(site).slice(-2)).toEqual(['One', 'Two'])
  })
})
