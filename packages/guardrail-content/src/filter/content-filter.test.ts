import type { ChatResponse } from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { Agent, createSession, jsonSchema, messageText, text, tool } from '@lamella/core'
import { callFunction, runChatMiddleware, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { contentFilter } from './content-filter.ts'
import type { ContentFilterOptions } from './content-filter-options.ts'

/** Returns a model's answer after the filter. */
async function answered(answer: string, options: ContentFilterOptions = {}): Promise<string> {
  const client = scriptedClient([answer])
  const agent = new Agent({ client, middleware: contentFilter(options) })
  const { status, text: said } = await agent.run('Hello')
  return status === 'blocked' ? 'blocked' : said
}

describe('words', () => {
  test('a blocked word in the input never reaches the model, and is nowhere afterwards', async () => {
    const client = scriptedClient([])
    const session = createSession()
    const events: GuardrailEvent[] = []
    const middleware = contentFilter({
      words: ['swordfish'],
      onEvent: (event) => events.push(event),
    })

    const response = await new Agent({ client, middleware }).run('my SWORDFISH!', { session })

    expect(response).toMatchObject({
      status: 'blocked',
      block: { guardrail: 'content', stage: 'input', category: 'words' },
    })
    expect(client.requests).toHaveLength(0)
    expect(JSON.stringify([response, session, events])).not.toMatch(/swordfish/i)
    expect(events).toEqual([
      { guardrail: 'content', stage: 'input', status: 'blocked', category: 'words' },
    ])
  })

  test.each([
    'Scunthorpe, Penistone and Cockermouth',
    'a class of assassins from Essex',
    'Arsenal, a cocktail, a shuttlecock, the Titanic',
    'Matsushita sells shiitake',
    'He is analysing a redundant document',
    'therapists pass the grass',
  ])('a word within another one is none: %s', async (harmless) => {
    const words = [
      'cunt',
      'penis',
      'cock',
      'ass',
      'sex',
      'arse',
      'tit',
      'shit',
      'anal',
      'dan',
      'rapist',
    ]

    expect(await answered(harmless, { words })).toBe(harmless)
  })

  test.each([
    ['case', 'SwordFish'],
    ['full width', 'Ｓｗｏｒｄｆｉｓｈ'],
    ['zero-width characters', 'sword\u200bfi\u2060sh'],
    ['a soft hyphen', 'sword\u00adfish'],
    ['look-alike letters', 'ѕwоrdfіsh'],
    ['mathematical letters', '𝓼𝔀𝓸𝓻𝓭𝓯𝓲𝓼𝓱'],
    [
      'tag characters',
      'swordfish'.replace(/./g, (c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))),
    ],
    ['punctuation around it', '"swordfish".'],
    ['an underscore', '_swordfish_'],
  ])('are found in spite of %s', async (_, disguised) => {
    const said = await answered(`It is ${disguised} now`, {
      words: ['swordfish'],
      action: 'replace',
      replacement: '[fish]',
    })

    expect(said.replace(/["._]/g, '')).toBe('It is [fish] now')
  })

  test.each([
    'sw0rdf1sh',
    's.w.o.r.d.f.i.s.h',
    's w o r d f i s h',
    'swooordfisssh',
    '$w0rdf!sh',
    'swördfish',
    'sw0rdf!$h',
  ])('are found with `leet` as %s', async (disguised) => {
    expect(await answered(`is ${disguised} now`, { words: ['swordfish'], leet: true })).toBe(
      'blocked',
    )
    expect(await answered(`is ${disguised} now`, { words: ['swordfish'] })).toBe(
      `is ${disguised} now`,
    )
  })

  test('`leet` does not end a word in the middle of another one', async () => {
    const harmless = 'pass the a$$et, ass3ts, as $5 each, a s s e t, 455'

    expect(await answered(harmless, { words: ['ass'], leet: true })).toBe(harmless)
  })

  test('a phrase is found over line breaks, hyphens and wide spaces', async () => {
    const words = ['son of a gun']

    for (const gap of [' ', '\n', '-', '   ', '_', '\u00a0']) {
      expect(await answered(`a son${gap}of a gun`, { words })).toBe('blocked')
    }
  })

  test('a `*` stands for any more letters', async () => {
    const words = ['fish*']

    expect(
      await answered('so fishy, fish and chips, swordfish', { words, action: 'replace' }),
    ).toBe('so ***, *** and chips, swordfish')
  })

  test('a word of a script without spaces is found within a sentence', async () => {
    expect(await answered('おまえはバカだ', { words: ['バカ'], action: 'replace' })).toBe(
      'おまえは***だ',
    )
  })

  test('an allowed phrase may hold what is not wanted, at any place of it', async () => {
    const options = {
      words: ['dick'],
      allow: ['Moby Dick', 'Dick Van Dyke'],
      action: 'replace',
    } as const

    expect(await answered('Moby Dick. Dick Van Dyke. dick', options)).toBe(
      'Moby Dick. Dick Van Dyke. ***',
    )
  })

  test('without whole words a part of one is found', async () => {
    expect(await answered('swordfish', { words: ['fish'], wholeWord: false })).toBe('blocked')
  })

  test('without any option the list of coarse words is used', async () => {
    expect(await answered('What the fuck?')).toBe('blocked')
    expect(await answered('My dick is Moby.', { words: ['fish'] })).toBe('My dick is Moby.')
  })
})

describe('patterns', () => {
  test.each([
    ['without flags', /\d{3}-\d{2}/],
    ['global', /\d{3}-\d{2}/g],
    ['sticky', /\d{3}-\d{2}/y],
    ['with a look-behind', /(?<=#)\d{3}-\d{2}/],
    ['that may match nothing', /(\d{3}-\d{2})?/],
  ])('one %s finds every match, each time', async (_, pattern) => {
    const options = { patterns: [pattern], action: 'replace' } as const

    for (let time = 0; time < 3; time++) {
      expect(await answered('#123-45 and #678-90', options)).toBe('#*** and #***')
    }
    expect(pattern.lastIndex).toBe(0)
  })

  test('one given as text ignores case', async () => {
    expect(await answered('Project X', { patterns: ['project\\s+x'] })).toBe('blocked')
  })
})

describe('categories', () => {
  const options = {
    words: { fish: ['trout'], fowl: ['duck'] },
    patterns: { plans: [/plan [a-z]/i] },
    actions: { fowl: 'replace', plans: 'flag' },
    replacement: (match: string, category: string) => `<${category} ${match.length}>`,
  } as const

  test('have an action each', async () => {
    const events: GuardrailEvent[] = []
    const onEvent = (event: GuardrailEvent) => events.push(event)

    expect(await answered('a duck has plan B', { ...options, onEvent })).toBe(
      'a <fowl 4> has plan B',
    )
    expect(await answered('a duck eats a trout', options)).toBe('blocked')
    expect(events.filter(({ status }) => status !== 'passed').slice(0, 2)).toEqual([
      { guardrail: 'content-replace', stage: 'output', status: 'replaced', category: 'fowl' },
      { guardrail: 'content-flag', stage: 'output', status: 'flagged', category: 'plans' },
    ])
  })

  test('that are asked to be said anew are', async () => {
    const client = scriptedClient(['a trout', 'a salmon'])
    const middleware = contentFilter({ words: ['trout'], action: 'retry' })

    const response = await new Agent({ client, middleware }).run('Which fish?')

    expect(response.text).toBe('a salmon')
  })

  test('named like a property of every object are none of them', async () => {
    const words = JSON.parse('{ "__proto__": ["trout"], "constructor": ["duck"] }')

    expect(await answered('a trout', { words, action: 'replace' })).toBe('a ***')
    expect(await answered('a duck', { words, actions: { fish: 'flag' } })).toBe('blocked')
  })
})

describe('tool calls', () => {
  test('arguments are replaced as JSON, also behind a line break', async () => {
    const received: unknown[] = []
    const post = tool({
      name: 'post',
      description: 'Posts.',
      parameters: jsonSchema({ type: 'object', properties: { words: { type: 'string' } } }),
      execute: (args) => {
        received.push(args)
        return 'a trout was here'
      },
    })
    const client = scriptedClient([callFunction('post', { words: 'hi\ntrout "x"' }), 'Done.'])
    const middleware = contentFilter({
      words: ['trout'],
      action: 'replace',
      replacement: '"fish"',
      applyTo: ['arguments', 'result'],
    })

    await new Agent({ client, tools: [post], middleware }).run('Post it.')

    expect(received).toEqual([{ words: 'hi\n"fish" "x"' }])
    expect(client.requests[1]?.messages.at(-1)?.contents).toMatchObject([
      { contents: [text('a "fish" was here')] },
    ])
  })
})

describe('as any middleware', () => {
  test('a guardrail at chat level sees what every model call is sent', async () => {
    const middleware = contentFilter({ words: ['trout'], level: 'chat', action: 'replace' })
    const client = scriptedClient(['Yes.'])

    await new Agent({ client, middleware }).run('a trout')

    expect(messageText(client.requests[0]!.messages[0]!)).toBe('a ***')
  })

  test('in the shadow nothing is changed, and all is reported', async () => {
    const events: GuardrailEvent[] = []
    const onEvent = (event: GuardrailEvent) => events.push(event)
    const options = { words: ['trout'], mode: 'shadow', onEvent } as const

    expect(await answered('a trout', options)).toBe('a trout')
    expect(events.map(({ status }) => status)).toContain('shadow')
    expect(contentFilter({ mode: 'off' })).toEqual([])
  })

  test('its places in the order are known', () => {
    const middlewares = contentFilter({
      words: ['x'],
      patterns: { y: ['y'] },
      actions: { y: 'flag' },
    })

    expect(middlewares.map(({ level, name, role }) => `${level} ${name} ${role}`)).toEqual([
      'chat content-provider content',
      'agent content content',
      'chat content content',
      'function content content',
      'agent content-flag content',
      'chat content-flag content',
      'function content-flag content',
    ])
  })

  test.each(['agent', 'chat'] as const)(
    'at %s level, it reads what a person answers to a call',
    async (level) => {
      const declared = tool({ name: 'ask_page', description: 'Asks the page.' })
      const guarded = tool({
        name: 'pay',
        description: 'Pays.',
        approval: 'always',
        execute: () => 'paid',
      })
      const statuses: string[] = []

      for (const [asked, answer] of [
        [declared, 'the swordfish'],
        [declared, { contents: [text('It says: swordfish')] }],
        [guarded, { approved: false, reason: 'no swordfish' }],
      ] as const) {
        const client = scriptedClient([callFunction(asked.name), 'Done.'])
        const middleware = contentFilter({ words: ['swordfish'], level })
        const agent = new Agent({ client, tools: [asked], middleware })
        const { checkpoint, pending } = await agent.run('Begin.')
        const response = await agent.resume(checkpoint!, { [pending[0]!.id]: answer })
        statuses.push(`${response.status} ${response.block?.stage} ${client.requests.length}`)
        expect(JSON.stringify(response)).not.toContain('swordfish')
      }

      expect(statuses).toEqual(Array.from({ length: 3 }, () => 'blocked input 1'))
    },
  )

  test('a thousand runs at once stay apart', async () => {
    const client = scriptedClient(({ messages }) => `re: ${messageText(messages[0]!)}`)
    const agent = new Agent({ client, middleware: contentFilter({ words: ['trout'] }) })

    const all = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        agent.run(index % 2 ? `a trout ${index}` : `${index}`),
      ),
    )

    expect(all.map(({ status }) => status)).toEqual(
      all.map((_, index) => (index % 2 ? 'blocked' : 'completed')),
    )
  })

  test('the first characters of an answer do not wait for the rest', async () => {
    const seen: string[] = []
    const { updates } = await runChatMiddleware(
      contentFilter({ words: ['trout'] }).filter(({ level }) => level === 'chat'),
      { replies: ['Hello there, a troubadour sings.'], stream: true, chunk: 1 },
    )
    for (const { contents } of updates as ChatResponse['messages'])
      for (const content of contents) if (content.type === 'text') seen.push(content.text)

    expect(seen.slice(0, 4).join('')).toMatch(/^Hell/)
    expect(seen.join('')).toBe('Hello there, a troubadour sings.')
  })
})

test.each<[ContentFilterOptions, RegExp]>([
  [{ words: [''] }, /contentFilter: `words` must be texts that are not empty, got ""/],
  [
    { words: 'damn' as never },
    /contentFilter: `words` must be a list, or lists by category, got "damn"/,
  ],
  [
    { words: { coarse: 'damn' as never } },
    /`words` must be a list, or lists by category, got "damn"/,
  ],
  [{ patterns: /damn/ as never }, /`patterns` must be a list, or lists by category/],
  [{ allow: 'damn' as never }, /`allow` must be a list, got "damn"/],
  [{ applyTo: 'output' as never }, /`applyTo` must be a list, got "output"/],
  [{ words: ['*'] }, /`words`/],
  [{ patterns: ['('] }, /`patterns` must be patterns, got "\("/],
  [{ action: 'warn' as never }, /`action` must be one of block, retry, replace, flag, got "warn"/],
  [{ actions: { a: 'warn' as never } }, /`actions.a`/],
  [{ thresholds: { hate: 2 } }, /`thresholds.hate` must be a number from 0 to 1, got 2/],
  [{ combine: 'most' as never }, /`combine`/],
  [{ action: 'retry', stream: { release: 'window' } }, /`stream.release` must be 'full'/],
  [{ applyTo: ['file'] }, /`moderation` must be a moderator of images/],
  [{ applyTo: [] }, /`applyTo`/],
])('wrong options are named: %o', (options, message) => {
  expect(() => contentFilter(options)).toThrow(message)
})
