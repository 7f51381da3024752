import { callFunction } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { Content, Message, MiddlewareInput } from '@lamella/core'
import {
  chatMiddleware,
  chatResponse,
  createSession,
  message,
  messageText,
  ProviderError,
  text,
} from '@lamella/core'
import { guardrail } from './guardrail.ts'
import type { GuardrailSubject, Verdict } from './verdict.ts'
import { run, words, notes, calls, toolAnswer, image } from './guardrail.test-helper.ts'

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

    test('only messages of the named roles are checked', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['input'],
        roles: ['assistant'],
        check: words('replace'),
      })
      const input = [message('assistant', 'a secret'), message('user', 'the secret')]

      const { client } = await run(stream, judge, { input })

      expect(client.requests[0]?.messages.map(messageText)).toEqual(['a ***', 'the secret'])
    })

    test('a flag changes nothing', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['input', 'output'], check: words('flag') })

      const { client, seen } = await run(stream, judge, { input: 'a secret', steps: ['A secret.'] })

      expect(messageText(client.requests[0]!.messages[0]!)).toBe('a secret')
      expect(seen).toBe('A secret.')
    })

    test('what had arrived of a failed model call stays in its error', async () => {
      const failure = new ProviderError('cut off', {
        kind: 'network',
        provider: 'scripted',
        partial: chatResponse('The ans'),
      })
      const judge = guardrail({ name: 'g', applyTo: ['input'], check: words('block') })

      await expect(run(stream, judge, { steps: [failure] })).rejects.toBe(failure)

      expect(failure.partial?.text).toBe('The ans')
    })

    test.each([
      ['the sec', 'ret is', '*** is'],
      ['one ', 'two secret', 'two ***'],
      ['one ', 'two', 'two'],
      ['two ', 'one', 'one'],
    ])(
      'across two messages, %j and %j, only a match that covers both is found there',
      async (first, second, expected) => {
        const judge = guardrail({
          name: 'g',
          applyTo: ['input'],
          check: ({ text: judged }) => {
            const spans = Array.from(
              judged.matchAll(/secret|(?<=one )two|two (?=one)/g),
              ({ index, 0: match }) => ({ start: index, end: index + match.length }),
            )
            return { action: spans.length > 0 ? 'replace' : 'allow', spans, replacement: '***' }
          },
        })

        const { client } = await run(stream, judge, {
          input: [message('user', first), message('user', second)],
        })

        expect(client.requests[0]?.messages.map(messageText)).toEqual([first, expected])
      },
    )

    test('arguments of a call are judged on their own', async () => {
      const judged: string[] = []
      const judge = guardrail({
        name: 'g',
        applyTo: ['input'],
        check: (subject) => {
          judged.push(subject.text)
          return { action: 'allow' }
        },
      })
      const asks = message('assistant', [text('one'), ...calls])

      await run(stream, judge, { input: [asks, toolAnswer] })

      expect(judged).toEqual(['one', 'q: a\n', 'q: b\n', 'finefine tooboth', 'a secret'])
    })

    test('labels and arguments are replaced, and what tells of the old ones goes', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['input'],
        unsupported: 'allow',
        check: words('replace'),
      })
      const named = { ...image, name: 'secret.png' }
      const unknown = { type: 'hologram', name: 'a secret' } as unknown as Content
      const cited = { ...text('a secret'), annotations: [{ type: 'citation' }] as const }
      const call = { ...calls[0]!, arguments: '{"q":"secret"}', providerData: {} }

      const { client } = await run(stream, judge, {
        input: [
          message('user', [cited, named, unknown]),
          message('assistant', [call, calls[1]!]),
          toolAnswer,
        ],
      })

      const [sent, asked, answered] = client.requests[0]!.messages
      expect(sent?.contents).toEqual([text('a ***'), { ...image, name: '***.png' }, unknown])
      expect(asked?.contents).toEqual([{ ...calls[0], arguments: '{"q":"***"}' }, calls[1]])
      expect(answered?.contents).toMatchObject([
        { contents: [text('fine')], error: { message: 'a ***' } },
        { contents: [text('fine too')] },
        text('both'),
      ])
    })

    test('messages with nothing against them stay the objects that they are', async () => {
      const seen: (readonly Message[])[] = []
      const watch = (name: string) =>
        chatMiddleware(name, async (context, callNext) => {
          seen.push(context.messages)
          await callNext()
        })
      const judge = guardrail({
        name: 'g',
        level: 'chat',
        roles: ['user', 'assistant', 'tool'],
        applyTo: ['input'],
        check: () => ({ action: 'allow' }),
      })
      const named = message('user', [text('see'), { ...image, name: 'a.png' }])

      await run(stream, [watch('outer'), judge, watch('inner')].flat(), {
        input: [named, message('assistant', calls), toolAnswer],
      })

      expect(seen[1]).toBe(seen[0])
    })

    test('a result is not read as the end of the text before it', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['input'], check: words('replace') })
      const input = [
        message('user', 'one'),
        message('assistant', [text('the sec'), callFunction('notes', {}, 'c1')]),
        message('tool', { type: 'function-result', callId: 'c1', contents: [text('ret')] }),
        message('assistant', 'ret'),
      ]

      const { client } = await run(stream, judge, { input })

      const sent = client.requests[0]!.messages
      expect(sent[2]?.contents).toEqual(input[2]!.contents)
      expect(messageText(sent[3]!)).toBe('***')
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

    test('a message of the role system is instructions', async () => {
      const judge = guardrail({ name: 'g', applyTo: ['instructions'], check: words('replace') })
      const input = [message('system', 'Keep the secret.'), message('user', 'the secret')]

      const { client } = await run(stream, judge, { input })

      expect(client.requests[0]?.messages.map(messageText)).toEqual(['Keep the ***.', 'the secret'])
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

    test.each([
      ['input', [{ stage: 'input', text: 'see' }]],
      ['file', [{ stage: 'file', text: '', contents: [image], final: true }]],
    ] as const)('only the named kinds of content are judged: %s', async (stage, expected) => {
      const judged: GuardrailSubject[] = []
      const judge = guardrail({
        name: 'g',
        applyTo: [stage],
        check: (subject) => {
          judged.push(subject)
          return { action: 'allow' }
        },
      })

      await run(stream, judge, { input: message('user', [text('see'), image]) })

      expect(judged).toMatchObject(expected)
    })

    test('a file without a replacement becomes an empty text', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['file'],
        check: () => ({ action: 'replace' }),
      })

      const { client } = await run(stream, judge, { input: message('user', [text('see'), image]) })

      expect(client.requests[0]?.messages[0]?.contents).toEqual([text('see'), text('')])
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
})
