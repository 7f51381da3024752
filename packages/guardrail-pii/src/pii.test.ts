import type { AgentResponse, Content } from '@lamella/core'
import { Agent, createSession, jsonSchema, outcomeOf, text, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { PiiOptions } from './index.ts'
import { pii } from './index.ts'

const key = 'a key of sixteen characters'

/** The answer of a model that says `reply`, plain and streamed. */
async function answers(reply: string, options: PiiOptions<undefined> = {}): Promise<string[]> {
  const make = () => new Agent({ client: scriptedClient([reply]), middleware: pii(options) })
  const streamed = make().run('Hello', { stream: true })
  let shown = ''
  for await (const piece of streamed.text()) shown += piece
  return [(await make().run('Hello')).text, (await streamed.finalResponse()).text, shown]
}

/** Returns the arguments of the tool and the result that the model reads. */
async function throughTool(
  args: Record<string, unknown>,
  returned: unknown,
  options: PiiOptions<undefined> = {},
): Promise<{ got: unknown[]; read: string; response: AgentResponse; past: string }> {
  const got: unknown[] = []
  const client = scriptedClient([callFunction('store', args), 'Done.'])
  const store = tool({
    name: 'store',
    description: 'Stores.',
    parameters: jsonSchema({ type: 'object' }),
    execute: (given) => {
      got.push(given)
      return returned
    },
  })
  const agent = new Agent({ client, tools: [store], middleware: pii(options) })
  const response = await agent.run('Continue')
  const [, call, result] = client.requests[1]?.messages ?? []
  const contentsOf = (content: Content | undefined) =>
    content?.type === 'function-result' ? content.contents : []
  const past = call?.contents[0]
  return {
    got,
    response,
    read: contentsOf(result?.contents[0])
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join(),
    past: past?.type === 'function-call' ? past.arguments : '',
  }
}

describe('strategies', () => {
  const both = 'Mail ann@example.com or pay with 5555 5555 5555 4444.'

  it.for<[PiiOptions<undefined>, string]>([
    [{}, 'Mail [EMAIL] or pay with [CREDIT_CARD].'],
    [{ strategy: 'mask' }, 'Mail ***@******e.com or pay with **** **** **** 4444.'],
    [
      { strategy: 'mask', mask: { keepLast: 0, char: '#', preserveFormat: false } },
      'Mail ############### or pay with ###################.',
    ],
    [{ strategy: { email: 'flag' } }, 'Mail ann@example.com or pay with [CREDIT_CARD].'],
    [
      { strategy: { default: 'flag', financial: 'redact' } },
      'Mail ann@example.com or pay with [CREDIT_CARD].',
    ],
    [{ entities: ['email'] }, 'Mail [EMAIL] or pay with 5555 5555 5555 4444.'],
  ])('%o', async ([options, expected]) => {
    expect(new Set(await answers(both, options))).toEqual(new Set([expected]))
  })

  it('a hash is keyed, by tenant too, and the same for all spellings', async () => {
    const hash = async (reply: string, more: PiiOptions<undefined> = {}) =>
      (await answers(reply, { strategy: 'hash', key, ...more }))[0]!

    const first = await hash('5555 5555 5555 4444')

    expect(first).toMatch(/^\[CREDIT_CARD:[\da-f]{16}\]$/)
    expect(await hash('5555555555554444')).toBe(first)
    expect(await hash('5555555555554444', { key: `${key}.` })).not.toBe(first)
    expect(await hash('5555555555554444', { hash: { tenant: 'b' } })).not.toBe(first)
    expect(await hash('5555555555554444', { hash: { length: 8 } })).toMatch(/:[\da-f]{8}\]$/)
  })

  it('a pseudonym has the form of the value, and is the same each time', async () => {
    const [plain, streamed] = await answers(both, { strategy: 'pseudonymize', key })

    expect(plain).toBe(streamed)
    expect(plain).toMatch(/^Mail \w{10}@example\.com or pay with \d{4} \d{4} \d{4} \d{4}\.$/)
    expect(plain).not.toContain('ann@')
  })

  it('a block ends the run with a neutral sentence, and says which kind', async () => {
    const client = scriptedClient([both])
    const session = createSession()
    const agent = new Agent({ client, middleware: pii({ strategy: { contact: 'block' } }) })

    const response = await agent.run('Hello', { session })

    expect(response).toMatchObject({ status: 'blocked', block: { category: 'email' } })
    expect(JSON.stringify([response, session])).not.toContain('ann@')
  })
})

describe('input', () => {
  it('reaches the model redacted, and stays in the session as it was', async () => {
    const client = scriptedClient(['Hi.'])
    const session = createSession()
    const agent = new Agent({ client, middleware: pii() })

    await agent.run([text('I am ann@example.com, '), text('SSN 123-45-6789')], { session })

    expect(JSON.stringify(client.requests[0]?.messages)).toContain('I am [EMAIL], ')
    expect(JSON.stringify(client.requests)).not.toMatch(/ann@|123-45/)
    expect(JSON.stringify(session)).toContain('ann@example.com')
  })

  it('is redacted in all messages of a history, and in the calls there', async () => {
    const client = scriptedClient(['Hi.'])
    const session = createSession({
      messages: [
        { id: '1', role: 'user', contents: [text('I am ann@example.com')] },
        {
          id: '2',
          role: 'assistant',
          contents: [
            text('Hello ann@example.com'),
            {
              type: 'function-call',
              callId: 'c',
              name: 'find',
              arguments: '{"ann@example.com":[1,"say \\"ann@example.com\\"",5555555555554444]}',
            },
          ],
        },
        {
          id: '3',
          role: 'tool',
          contents: [
            { type: 'function-result', callId: 'c', contents: [text('{"to":"ann@example.com"}')] },
          ],
        },
      ],
    })

    await new Agent({ client, middleware: pii() }).run('And?', { session })

    const sent = JSON.stringify(client.requests[0]?.messages)
    expect(sent).not.toMatch(/ann@|5555555555554444/)
    expect(sent).toContain(
      JSON.stringify('{"[EMAIL]":[1,"say \\"[EMAIL]\\"","[CREDIT_CARD]"]}').slice(1, -1),
    )
  })
})

describe('arguments and results', () => {
  it('are looked through at any depth, keys and numbers too', async () => {
    const data = JSON.parse(
      '{"a":[{"ann@example.com":"x\\n+1 415 555 0132","__proto__":{"card":5555555555554444}}]}',
    )

    const { got, read } = await throughTool(data, data)

    const clean = '{"a":[{"[EMAIL]":"x\\n[PHONE]","__proto__":{"card":"[CREDIT_CARD]"}}]}'
    expect(JSON.stringify(got[0])).toBe(clean)
    expect(read).toBe(clean)
  })

  it('the model reads its own earlier arguments redacted too', async () => {
    const { past } = await throughTool({ to: 'ann@example.com' }, 'ok')

    expect(past).toBe('{"to":"[EMAIL]"}')
  })

  it('a secret in arguments blocks, unless a strategy says otherwise', async () => {
    const args = { body: 'password = "hunter2hunter2"' }

    expect((await throughTool(args, '')).response).toMatchObject({
      status: 'blocked',
      block: { stage: 'arguments', category: 'secret' },
    })
    expect((await throughTool(args, '', { strategy: 'redact' })).got).toEqual([
      { body: 'password = "[SECRET]"' },
    ])
  })

  it('the name of a field says what its value is', async () => {
    const { read } = await throughTool({}, { id: 702029921, ssn: 702029921, api_key: 'q7Fz81kLm2' })

    expect(read).toBe('{"id":702029921,"ssn":"[SSN]","api_key":"[SECRET]"}')
  })

  it('a private key in lines is one find', async () => {
    const lines = [
      '-----BEGIN PRIVATE KEY-----',
      'MIIEvQIBADANBgkq',
      '-----END PRIVATE KEY-----',
      'x',
    ]

    expect((await throughTool({}, { key: lines, next: 1 })).read).toBe(
      '{"key":["[SECRET]","","","x"],"next":1}',
    )
  })

  it('a result that is no JSON is a text', async () => {
    expect((await throughTool({}, 'Call (415) 555-0132 {')).read).toBe('Call [PHONE] {')
  })

  it.for(['ann@example.com', '(415) 555-0132', '123-45-6789', '4111 1111 1111 1111', '10.1.2.3'])(
    'all kinds of the kernel block, if that is asked for: %s',
    async (value) => {
      const { response, got } = await throughTool({ list: [{ value }] }, '', { strategy: 'block' })

      expect(response.status).toBe('blocked')
      expect(got).toEqual([])
      expect(JSON.stringify(response)).not.toContain(value)
    },
  )
})

describe('what is told', () => {
  it('events name kinds and no values; the guardrail itself may be told more', async () => {
    const told: unknown[] = []
    const events: unknown[] = []
    const options: PiiOptions<undefined> = { onEvent: (event) => told.push(event) }
    const run = (more: object) =>
      new Agent({
        client: scriptedClient(['Mail ann@example.com']),
        middleware: pii({ ...options, ...more }),
      }).run('Hi', { onEvent: (event) => void events.push(event) })

    await run({})
    expect(told).toContainEqual({
      guardrail: 'pii',
      stage: 'output',
      status: 'replaced',
      category: 'email',
    })
    await run({ includeContent: true })
    expect(told).toContainEqual(expect.objectContaining({ match: 'ann@example.com' }))
    expect(JSON.stringify(events)).toContain('replaced')
    expect(JSON.stringify(events)).not.toContain('ann@')
  })

  it('a shadow reports and changes nothing', async () => {
    const events: unknown[] = []
    const client = scriptedClient(['Mail ann@example.com'])
    const agent = new Agent({ client, middleware: pii({ mode: 'shadow' }) })

    const { text: said } = await agent.run('I am bob@example.com', {
      onEvent: ({ data }) => void events.push(data),
    })

    expect(said).toBe('Mail ann@example.com')
    expect(JSON.stringify(client.requests)).toContain('bob@')
    expect(events).toMatchObject([{ status: 'shadow' }, { status: 'shadow' }])
  })

  it('off is not there, and `when` says for which calls it is', async () => {
    expect(pii({ mode: 'off' })).toEqual([])
    expect(await answers('a@b.com', { when: ({ run }) => run.depth > 0 })).toContain('a@b.com')
  })
})

describe('detectors of other makers', () => {
  const detect: PiiOptions['detect'] = async (given) =>
    [...given.matchAll(/Ann Smith/g)].map(({ index }) => ({
      kind: 'person',
      start: index,
      end: index + 9,
      score: 0.9,
    }))

  it('find names as well, in streams too', async () => {
    const said = await answers('Ask Ann Smith at ann@example.com.', { detect })

    expect(new Set(said)).toEqual(new Set(['Ask [PERSON] at [EMAIL].']))
  })

  it.for(['closed', 'open'] as const)(
    'that fail are dealt with by `onError: %s`',
    async (onError) => {
      const fail = () => Promise.reject(new Error('down'))
      const agent = new Agent({
        client: scriptedClient(['Hi.']),
        middleware: pii({ detect: fail, onError }),
      })

      expect((await agent.run('Hello')).status).toBe(onError === 'open' ? 'completed' : 'blocked')
    },
  )

  it.each<[unknown]>([
    [null],
    ['none'],
    [[{ kind: 'person' }]],
    [[{ kind: 'person', start: 3, end: 1, score: 1 }]],
    [[{ kind: 'person', start: -1, end: 2, score: 1 }]],
    [[{ kind: 'person', start: 0, end: 99, score: 1 }]],
    [[{ kind: 'person', start: 0.5, end: 2, score: 1 }]],
    [[{ start: 0, end: 2, score: 1 }]],
  ])('that return nonsense have failed: %o', async (finds) => {
    const reasons: (string | undefined)[] = []
    const middleware = pii({
      detect: async () => finds as never,
      onEvent: ({ status, reason }) => status === 'error' && reasons.push(reason),
    })
    const agent = new Agent({ client: scriptedClient([]), middleware })

    const { block } = await agent.run('Hello')

    expect(block?.category).toBe('guardrail_error')
    expect(reasons).toEqual([expect.stringContaining('`detect` must return')])
  })

  it('cannot be asked about a window, which would cut what they find', () => {
    expect(() => pii({ detect, release: 'window' })).toThrow(
      "pii: `release` must be 'full' or 'sentence' with `detect`",
    )
  })

  it('and a scan that takes too long is a failure of the guardrail', async () => {
    let now = 0
    const clock = { now: () => (now += 10_000) }
    const agent = new Agent({ client: scriptedClient([]), middleware: pii({ clock }) })

    const response = await agent.run('Call 12')

    expect(response).toMatchObject({ status: 'blocked', block: { category: 'guardrail_error' } })
  })

  it('that hang end with the run', async () => {
    const { signal, abort } = abortable()
    const hang: PiiOptions['detect'] = () => {
      queueMicrotask(abort)
      return new Promise(() => {})
    }
    const agent = new Agent({ client: scriptedClient([]), middleware: pii({ detect: hang }) })

    const failure: unknown = await agent.run('Hello', { signal }).catch((error: unknown) => error)

    expect(outcomeOf(failure)?.status).toBe('aborted')
  })
})

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

describe('wrong options', () => {
  it.for<[object, string]>([
    [{ strategy: 'hide' }, '`strategy`'],
    [{ strategy: { email: 'hide' } }, '`strategy`'],
    [{ strategy: 'hash' }, '`key`'],
    [{ strategy: 'vault' }, '`vault`'],
    [{ applyTo: ['file'] }, '`applyTo`'],
    [{ mode: 'on' }, '`mode`'],
    [{ release: 'now' }, '`release`'],
    [{ vault: { restore: ['input'] } }, '`vault.restore`'],
    [{ entities: ['emial'] }, '`entities`'],
    [{ name: '' }, '`name`'],
  ])('%o', ([options, message]) => {
    expect(() => pii(options)).toThrow(message)
  })
})
