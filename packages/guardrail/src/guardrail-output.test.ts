import * as fc from 'fast-check'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import type { Content, MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  createSession,
  message,
  messageText,
  text,
} from '@lamella/core'
import { guardrail } from './guardrail.ts'
import type { GuardrailSubject, Verdict } from './verdict.ts'
import { run, words, notes, image } from './guardrail.test-helper.ts'

describe.each([
  ['plain', false],
  ['streamed', true],
])('%s', (_, stream) => {
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

    test.each(['agent', 'chat'] as const)(
      'at %s level a match is found across two model calls',
      async (level) => {
        const judge = guardrail({
          name: 'g',
          level,
          applyTo: ['output'],
          check: words('replace'),
          stream: { holdChars: 0 },
        })
        const asks: ScriptedStep = {
          messages: message('assistant', [text('the sec'), callFunction('notes')]),
        }

        const { seen } = await run(stream, judge, { steps: [asks, 'ret'], tools: [notes] })

        expect(seen).toBe('the sec***')
      },
    )

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

    test('text beside a file is checked once', async () => {
      const checked: string[] = []
      const judge = guardrail({
        name: 'g',
        applyTo: ['output', 'file'],
        check: (subject) => {
          checked.push(`${subject.stage} ${subject.text}`)
          return { action: 'allow' }
        },
      })

      await run(stream, judge, { steps: [['See: ', image]] })

      expect(checked.toSorted()).toEqual(['file ', 'output See: '])
    })

    test('reasoning stays as it is where only output is named, and is told apart', async () => {
      const stages: string[] = []
      const check = (subject: GuardrailSubject): Verdict => {
        stages.push(subject.stage)
        return words('replace')(subject)
      }
      const steps = [[{ type: 'reasoning', text: 'a secret' } as const, 'A secret.']]

      const { response } = await run(stream, guardrail({ name: 'g', applyTo: ['output'], check }), {
        steps,
      })
      await run(stream, guardrail({ name: 'g', applyTo: ['reasoning'], check }), { steps })

      expect(response.messages[0]?.contents).toEqual([steps[0]![0], text('A ***.')])
      expect(stages).toEqual(['output', 'reasoning'])
    })

    test.each([
      ['decoded', 'json', '{"q":"a\\n\\"***\\""}'],
      ['decoded', undefined, '{"q":"a\\n"***""}'],
      ['raw', 'json', '{"q":"a\\nsecret"}'],
    ] as const)('text read as %s, of format %s, becomes %s', async (readAs, format, expected) => {
      const check = ({ text: judged }: GuardrailSubject): Verdict => {
        const start = judged.indexOf('\nsecret') + 1
        if (start === 0) return { action: 'allow' }
        return { action: 'replace', spans: [{ start, end: start + 6, replacement: '"***"' }] }
      }
      const client = scriptedClient(['{"q":"a\\nsecret"}'])
      const middleware = guardrail({ name: 'g', applyTo: ['output'], readAs, check })
      const agent = new Agent({ client, middleware, options: { responseFormat: format } })

      const { text: answer } = stream
        ? await agent.run('Hello', { stream }).finalResponse()
        : await agent.run('Hello')

      expect(answer).toBe(expected)
    })

    test('a check that fails open lets the answer pass', async () => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        onError: 'open',
        check: () => {
          throw new Error('the judge is ill')
        },
      })

      const { response, seen } = await run(stream, judge)

      expect([response.status, seen]).toEqual(['completed', 'The answer.'])
    })

    test.each([
      ['Not that.', 'Not that.'],
      [undefined, 'That answer was not acceptable. Please answer again.'],
    ])('a retry without feedback and with the message %s says: %s', async (said, expected) => {
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        check: words('retry', { message: said }),
      })

      const { client } = await run(stream, judge, { steps: ['a secret', 'All is well.'] })

      expect(messageText(client.requests[1]!.messages[1]!)).toBe(expected)
    })

    test.each([
      ['passthrough', ['flagged'], 'A secret.'],
      ['window', ['replaced'], 'A ***.'],
    ] as const)('with %s a replacement is %s', async (release, expected, left) => {
      const told: string[] = []
      const judge = guardrail({
        name: 'g',
        applyTo: ['output'],
        stream: { release },
        check: words('replace'),
        onEvent: ({ status }) => void told.push(status),
      })

      const { seen } = await run(stream, judge, { steps: ['A secret.'] })

      expect(told.filter((status) => status !== 'passed')).toEqual(expected)
      expect(seen).toBe(left)
    })

    test('at agent level an answer that is asked for again does not continue the first', async () => {
      const twice = agentMiddleware('twice', async (_context, callNext) => {
        await callNext()
        await callNext()
      })
      const judge = guardrail({
        name: 'g',
        level: 'agent',
        applyTo: ['output'],
        check: words('replace'),
      })

      const { response } = await run(stream, [twice, judge].flat(), { steps: ['the sec', 'ret'] })

      expect(response.text).toBe('ret')
    })

    test('an update with a file that may pass stays as it is', async () => {
      const raw: unknown[] = []
      const watch = chatMiddleware('watch', async (context, callNext) => {
        context.transformUpdates({
          transform(update, controller) {
            if (update.contents.length > 0) raw.push(update.raw)
            controller.enqueue(update)
          },
        })
        await callNext()
      })
      const judge = guardrail({ name: 'g', applyTo: ['file'], check: () => ({ action: 'allow' }) })
      const update = { contents: [image], raw: { id: 1 } }

      await run(stream, [watch, judge].flat(), { steps: [{ updates: [update] }] })

      expect(raw).toEqual([stream ? update.raw : undefined])
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
