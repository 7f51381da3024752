import { chatMiddleware, tool } from '@lamella/core'
import { callFunction } from '@lamella/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { base, served } from '../sse/served.test-helper.ts'
import type { ChatReaderOptions } from './chat-reader.ts'
import { chatReader } from './chat-reader.ts'

afterEach(() => vi.useRealTimers())

const read = ({ handler }: ReturnType<typeof served>, options: Partial<ChatReaderOptions> = {}) =>
  chatReader({
    url: base,
    chat: 'c1',
    headers: { 'x-user': 'ann' },
    fetch: (url, init) => handler(new Request(url, init)),
    ...options,
  })

const retry = chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext()))

test('an answer grows, and a restart takes back what it covers', async () => {
  const script = [
    ['Let me see. ', callFunction('locate')],
    { updates: ['Wro', 'ng'], error: new Error('cut') },
    'Right.',
  ]
  const shown: string[] = []
  const chat = read(served(script, { clientTools: ['locate'] }, { middleware: [retry] }), {
    onChange: ({ messages }) =>
      shown.push(
        messages
          .at(-1)!
          .contents.map(({ text }) => text)
          .join(),
      ),
  })

  await chat.send('Where am I?')
  await chat.answer({ [chat.state.pending[0]!.id]: 'Oslo' })

  expect(shown).toContain('Wrong')
  expect(
    chat.state.messages.map(({ role, contents }) => [
      role,
      contents.map(({ text }) => text).join(),
    ]),
  ).toEqual([
    ['user', 'Where am I?'],
    ['assistant', 'Let me see. '],
    ['assistant', 'Right.'],
  ])
  expect(chat.state).toMatchObject({ status: 'completed', pending: [] })
})

test('a chat is loaded, answered again, and refused input is not in it', async () => {
  const service = served(['One.', 'Two.'])
  await read(service).send('Hello')
  const chat = read(service)

  await chat.load()
  const isAnswered = await chat.again()
  const isTaken = await chat.send('')

  expect([isAnswered, isTaken]).toEqual([true, false])
  expect(chat.state).toMatchObject({
    messages: [{ contents: [{ text: 'Hello' }] }, { contents: [{ text: 'Two.' }] }],
    status: 'failed',
    code: 'invalid_input',
  })
})

test('stop leaves what was said', async () => {
  const chat = read(served([{ updates: ['Half'], hang: true }]), {
    onChange: ({ messages, status }) => {
      if (status === 'running' && messages.at(-1)!.contents.length > 0) void chat.stop()
    },
  })

  await chat.send('Hello')

  expect(chat.state).toMatchObject({
    status: 'stopped',
    messages: [{}, { contents: [{ text: 'Half' }] }],
  })
})

test('a lost connection is looked for again, and read from its first chunk', async () => {
  vi.useFakeTimers()
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const slow = chatMiddleware('slow', async (_, callNext) => {
    await callNext()
    await finished
  })
  const service = served(['Hello there.'], { onDisconnect: 'continue' }, { middleware: [slow] })
  let count = 0
  const chat = read(service, {
    fetch: async (url, init) => {
      const response = await service.handler(new Request(url, init))
      if (count++ > 0) return response
      // The first one breaks after two chunks.
      const reader = response.body!.getReader()
      const chunks = [(await reader.read()).value!, (await reader.read()).value!]
      return new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            const chunk = chunks.shift()
            if (chunk === undefined) controller.error(new TypeError('network'))
            else controller.enqueue(chunk)
          },
        }),
      )
    },
  })

  const sent = chat.send('Hi')
  await vi.advanceTimersByTimeAsync(1000)
  finish()
  await vi.advanceTimersByTimeAsync(1000)
  await sent

  expect(chat.state).toMatchObject({
    status: 'completed',
    messages: [{ role: 'user' }, { contents: [{ text: 'Hello there.' }] }],
  })
})

test('a connection that stays lost, and a run that is gone, are told', async () => {
  vi.useFakeTimers()
  const gone = read(served(['Hello.']), { fetch: () => Promise.reject(new TypeError('network')) })
  const isTaken = await gone.send('Hi')

  expect([isTaken, gone.state.status, gone.state.code]).toEqual([
    false,
    'failed',
    'connection_lost',
  ])
  expect(gone.state.messages).toEqual([])
})

test('a message to a run shows where the run took it in', async () => {
  let free = (): void => {}
  const gate = new Promise<void>((resolve) => (free = resolve))
  const work = tool({ name: 'work', description: '', execute: () => gate.then(() => 'worked') })
  const script = [['Looking. ', callFunction('work', {}, 'c1')], 'Direct ones.']
  const chat = read(served(script, { onBusy: 'steer', headersAfterMs: 0 }, { tools: [work] }))

  const first = chat.send('Flights?')
  await expect.poll(() => chat.state.messages.at(-1)!.contents).not.toEqual([])
  const joined = chat.send('Only direct.')
  await expect.poll(() => chat.state.waiting).toHaveLength(1)
  free()

  expect([await joined, await first]).toEqual([true, true])
  expect(chat.state.waiting).toEqual([])
  expect(chat.state.messages.map(({ contents }) => contents[0]?.text)).toEqual([
    'Flights?',
    'Looking. ',
    'Only direct.',
    'Direct ones.',
  ])
})
