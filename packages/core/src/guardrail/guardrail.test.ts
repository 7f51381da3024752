import * as fc from 'fast-check'
import type { ScriptedClient, ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type {
  AgentResponse,
  Content,
  MessageInput,
  MiddlewareInput,
  RunOptions,
  Tool,
} from '../index.ts'
import {
  Agent,
  chatMiddleware,
  createSession,
  message,
  messageText,
  text,
  textOf,
  tool,
} from '../index.ts'
import { guardrail } from './guardrail.ts'
import type { GuardrailSubject, Verdict } from './verdict.ts'

interface Ran {
  readonly response: AgentResponse
  /** Text that the caller had received at the end. */
  readonly seen: string
  readonly client: ScriptedClient
}

interface Setup extends Pick<RunOptions, 'session' | 'instructions'> {
  readonly steps?: readonly ScriptedStep[]
  readonly input?: MessageInput
  readonly tools?: readonly Tool[]
}

async function run(stream: boolean, middleware: MiddlewareInput, setup: Setup = {}): Promise<Ran> {
  const { steps = ['The answer.'], input = 'Hello', tools = [], ...options } = setup
  const client = scriptedClient(steps)
  const agent = new Agent({ client, tools, middleware })
  if (!stream) {
    const response = await agent.run(input, options)
    return { response, seen: response.text, client }
  }
  const running = agent.run(input, { ...options, stream: true })
  let seen = ''
  for await (const { contents, restart } of running) seen = (restart ? '' : seen) + textOf(contents)
  return { response: await running.finalResponse(), seen, client }
}

function words(
  action: Verdict['action'],
  more: Partial<Verdict> = {},
): (subject: GuardrailSubject) => Verdict {
  return ({ text: judged }) => {
    const spans = Array.from(judged.matchAll(/secret/g), ({ index }) => ({
      start: index,
      end: index + 6,
    }))
    return spans.length > 0
      ? { action, spans, replacement: '***', category: 'secrets', ...more }
      : { action: 'allow' }
  }
}

const notes = tool({
  name: 'notes',
  description: 'Reads notes.',
  parameters: { type: 'object', properties: { about: { type: 'string' } } },
  execute: ({ about }) => `notes about ${String(about)}: a secret`,
})

const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }

describe.each([
  ['plain', false],
  ['streamed', true],
])('%s', (_, stream) => {
  describe('on input', () => {
    test('a block ends the run before the model is asked, and the text is nowhere', async () => {
      const session = createSession()
      const judge = guardrail({ name: 'g', applyTo: ['input'], check: words('block') })

      const { response, client } = await run(stream, judge, { input: 'my secret', session })

      expect(client.requests).toHaveLength(0)
      expect(response).toMatchObject({
        status: 'blocked',
        text: 'I cannot help with this request.',
        block: { guardrail: 'g', level: 'agent', stage: 'input', category: 'secrets' },
      })
      expect(JSON.stringify([response, session])).not.toContain('secret,')
      expect(session.messages).toEqual([])
    })

    test('what is replaced reaches neither the model nor the session, and the caller keeps what is his', async () => {
      const session = createSession()
      const input = message('user', [text('my sec'), image, text('ret is')])
      const judge = guardrail({ name: 'g', applyTo: ['input'], check: words('replace') })

      const { client } = await run(stream, judge, { input, session })

      const contents = [text('my ***'), image, text(' is')]
      expect(client.requests[0]?.messages[0]?.contents).toEqual(contents)
      expect(session.messages[0]?.contents).toEqual(contents)
      expect(messageText(input)).toBe('my secret is')
    })

    test('a message is checked once in a run', async () => {
      const checked: string[] = []
      const session = createSession({
        messages: [message('user', 'before'), message('assistant', 'Yes.')],
      })
      const judge = guardrail({
        name: 'g',
        level: 'chat',
        applyTo: ['input'],
        check: (subject) => {
          checked.push(subject.text)
          return words('replace')(subject)
        },
      })

      const { client } = await run(stream, judge, {
        input: 'a secret',
        steps: [callFunction('notes', { about: 'x' }), 'Done.'],
        tools: [notes],
        session,
      })

      expect(checked).toEqual(['before', 'a secret'])
      expect(client.requests.map(({ messages }) => messageText(messages[2]!))).toEqual([
        'a ***',
        'a ***',
      ])
    })

    test.each<['new' | 'last-user' | 'all', string[]]>([
      ['new', ['one', 'two', 'onetwo']],
      ['last-user', ['two', 'onetwo']],
      ['all', ['one', 'two', 'onetwo', 'one', 'two', 'onetwo']],
    ])('messages: %s, each alone and behind the one before', async (messages, expected) => {
      const checked: string[] = []
      const check = ({ text: judged }: GuardrailSubject): Verdict => {
        checked.push(judged)
        return { action: 'allow' }
      }

      await run(
        stream,
        guardrail({ name: 'g', level: 'chat', applyTo: ['input'], messages, check }),
        {
          input: [message('user', 'one'), message('user', 'two')],
          steps: [callFunction('notes'), 'Done.'],
          tools: [notes],
        },
      )

      expect(checked).toEqual(expected)
    })

    test('what a caller puts into the mouth of the assistant is input of the run', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['input'], check: words('block') })
      const input = [message('assistant', 'the secret is'), message('user', 'continue')]

      const { response } = await run(stream, judge, { input })

      expect(response.status).toBe('blocked')
    })

    test('instructions are checked where they are named', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['instructions'], check: words('replace') })

      const { client } = await run(stream, judge, {
        instructions: 'Keep the secret.',
        input: 'the secret',
      })

      expect(client.requests[0]?.instructions).toBe('Keep the ***.')
      expect(messageText(client.requests[0]!.messages[0]!)).toBe('the secret')
    })

    test('instructions that stay the same are checked once in a run', async () => {
      let checks = 0
      const judge = guardrail({
        name: 'g',
        level: 'chat',
        applyTo: ['instructions'],
        check: (subject) => {
          checks++
          return words('replace')(subject)
        },
      })

      const { client } = await run(stream, judge, {
        instructions: 'Keep the secret.',
        steps: [callFunction('notes'), 'Done.'],
        tools: [notes],
      })

      expect(checks).toBe(1)
      expect(client.requests[1]?.instructions).toBe('Keep the ***.')
    })

    test('a file is judged as a file, and may become a text', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['file'],
        check: ({ contents }) => ({
          action: contents?.[0]?.type === 'data' ? 'replace' : 'allow',
          replacement: '[image]',
        }),
      })
      const link: Content = { type: 'uri', uri: 'https://example.com/a.pdf' }

      const { client } = await run(stream, judge, {
        input: message('user', [text('see'), image, link]),
      })

      expect(client.requests[0]?.messages[0]?.contents).toEqual([
        text('see'),
        text('[image]'),
        link,
      ])
    })

    test('a part that nobody knows is blocked unless the guardrail lets it pass', async () => {
      const input = message('user', [text('hi'), { type: 'hologram' } as unknown as Content])
      const make = (unsupported?: 'allow'): MiddlewareInput =>
        guardrail({ name: 'g', applyTo: ['input'], check: words('block'), unsupported })

      const closed = await run(stream, make(), { input })
      const open = await run(stream, make('allow'), { input })

      expect(closed.response.block?.category).toBe('unsupported')
      expect(open.response.status).toBe('completed')
    })
  })

  describe('on output', () => {
    test('a block leaves nothing of the answer with the caller', async () => {
      const session = createSession()
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: words('block'),
        blockMessage: 'No.',
      })

      const { response, seen } = await run(stream, judge, {
        steps: ['It is a secret, you see.'],
        session,
      })

      expect(seen).toBe('No.')
      expect(response).toMatchObject({
        status: 'blocked',
        text: 'No.',
        block: { level: 'chat', stage: 'output' },
      })
      expect(JSON.stringify([response.messages, session.messages])).not.toContain('secret')
    })

    test('what is replaced is gone for the caller, the session and the next model call', async () => {
      const session = createSession()
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: words('replace'),
        stream: { holdChars: 6 },
      })
      const asks: ScriptedStep = {
        messages: message('assistant', [text('the secret: '), callFunction('notes')]),
      }

      const { response, seen, client } = await run(stream, judge, {
        steps: [asks, 'no secret'],
        tools: [notes],
        session,
      })

      expect(seen).toBe('the ***: no ***')
      expect(response.text).toBe(seen)
      expect(messageText(client.requests[1]!.messages[1]!)).toBe('the ***: ')
      expect(session.messages.filter(({ role }) => role === 'assistant').map(messageText)).toEqual([
        'the ***: ',
        'no ***',
      ])
    })

    test('an answer from a middleware further in is checked like one of the model', async () => {
      const cached = chatMiddleware('cached', async (context) => {
        context.result = 'a secret'
      })
      const judge = guardrail({ name: 'g', applyTo: ['output'], check: words('replace') })

      const { response, seen } = await run(stream, [judge, cached], { steps: [] })

      expect([response.text, seen]).toEqual(['a ***', 'a ***'])
    })

    test('reasoning is checked where it is named', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['reasoning'], check: words('replace') })
      const answer = [{ type: 'reasoning', text: 'hm, secret' } as const, 'no secret']

      const { response } = await run(stream, judge, { steps: [answer] })

      expect(response.messages[0]?.contents).toEqual([
        { type: 'reasoning', text: 'hm, ***' },
        text('no secret'),
      ])
    })

    test('a part that nobody knows is blocked unless the guardrail lets it pass', async () => {
      const steps = [['Look: ', { type: 'hologram' } as unknown as Content]]
      const make = (unsupported?: 'allow'): MiddlewareInput =>
        guardrail({ name: 'g', applyTo: ['output'], check: words('block'), unsupported })

      const closed = await run(stream, make(), { steps })
      const open = await run(stream, make('allow'), { steps })

      expect(closed.response.block).toMatchObject({ stage: 'output', category: 'unsupported' })
      expect(open.response.messages[0]?.contents).toHaveLength(2)
    })

    test('a file that the model makes may become a text', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['file'],
        check: ({ role }) => ({ action: 'replace', replacement: `[${role}]` }),
      })

      const { response } = await run(stream, judge, { steps: [['See: ', image]] })

      expect(response.text).toBe('See: [assistant]')
    })

    test('a refusal is output too', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['output'], check: words('replace') })

      const { response } = await run(stream, judge, {
        steps: [[{ type: 'refusal', text: 'No secret.' }]],
      })

      expect(response.messages[0]?.contents).toEqual([{ type: 'refusal', text: 'No ***.' }])
    })

    test('a file that the model makes is checked where files are named', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['file'],
        check: () => ({ action: 'block', category: 'image' }),
      })

      const { response } = await run(stream, judge, { steps: [[image]] })

      expect(response.block).toMatchObject({ stage: 'output', category: 'image' })
    })

    test('the model is asked again with the feedback, and the first answer is nowhere', async () => {
      const session = createSession()
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: words('retry', { feedback: 'Say less.' }),
      })

      const { response, seen, client } = await run(stream, judge, {
        steps: ['a secret', 'All is well.'],
        session,
      })

      expect(client.requests[1]?.messages.map(messageText)).toEqual(['Hello', 'Say less.'])
      expect([seen, response.text]).toEqual(['All is well.', 'All is well.'])
      expect(session.messages.map(messageText)).toEqual(['Hello', 'All is well.'])
    })

    test('an answer that is no better the second time is blocked', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['output'], check: words('retry') })

      const { response, client } = await run(stream, judge, {
        steps: ['a secret', 'the secret'],
      })

      expect(client.requests).toHaveLength(2)
      expect(response.block?.category).toBe('secrets')
    })

    test('an answer of which some may have left is blocked, not asked for again', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: words('retry'),
        stream: { release: 'sentence' },
      })

      const { response, client } = await run(stream, judge, { steps: ['Well. A secret.'] })

      expect(client.requests).toHaveLength(1)
      expect(response.status).toBe('blocked')
    })

    test('at agent level the answer of the whole run is checked', async () => {
      const judge = guardrail({
        name: 'g',
        level: 'agent',
        applyTo: ['output'],
        check: words('replace'),
      })

      const { response, seen } = await run(stream, judge, {
        steps: [callFunction('notes'), 'a secret'],
        tools: [notes],
      })

      expect([response.text, seen]).toEqual(['a ***', 'a ***'])
    })

    test('a check may be async', async () => {
      const inner = words('replace')
      const judge = guardrail({
        name: 'g',
        applyTo: ['input', 'output'],
        check: async (subject) => inner(subject),
        stream: { release: 'sentence' },
      })

      const { seen, client } = await run(stream, judge, {
        input: 'a secret',
        steps: ['No. A secret.'],
      })

      expect(messageText(client.requests[0]!.messages[0]!)).toBe('a ***')
      expect(seen).toBe('No. A ***.')
    })

    test('a span without a replacement of its own has that of the verdict', async () => {
      const spans = [
        { start: 0, end: 3, replacement: undefined },
        { start: 4, end: 10, replacement: 'A' },
      ]
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: () => ({ action: 'replace', spans, replacement: '***' }),
      })

      const { response } = await run(stream, judge)

      expect(response.text).toBe('*** A.')
    })

    test('a verdict without spans is about all of the text', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: () => ({ action: 'replace', replacement: 'Hm.' }),
      })

      const { response } = await run(stream, judge)

      expect(response.text).toBe('Hm.')
    })
  })
})

test('a streamed answer and a plain one come to the same, whatever is in them', async () => {
  const answers = fc.string({
    unit: fc.constantFrom('secret', 'sec', 'ret', ' ', '. ', '😀'),
    maxLength: 12,
  })
  const streams = fc.constantFrom(
    { holdChars: 6 },
    { release: 'sentence' } as const,
    {},
    { holdChars: 9, checkEveryChars: 5 },
  )

  await fc.assert(
    fc.asyncProperty(answers, streams, async (answer, options) => {
      const make = (): MiddlewareInput =>
        guardrail({ name: 'g', applyTo: ['output'], check: words('replace'), stream: options })

      const plain = await run(false, make(), { steps: [answer] })
      const streamed = await run(true, make(), { steps: [answer] })

      expect(plain.response.text).toBe(answer.replaceAll('secret', '***'))
      expect({ ...streamed.response, runId: '' }).toEqual({ ...plain.response, runId: '' })
      expect(streamed.seen).toBe(plain.response.text)
    }),
    { numRuns: 100 },
  )
})
