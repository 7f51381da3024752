import { describe, expect, it } from 'vitest'
import { answer } from './answer.ts'
import type { ModelConversation, ModelTurn, OfferedTool } from '@lamella/testing/model-server'

const files: Record<string, string> = {
  'docs/retry.md': `# Retry

The middleware calls the model again when a call fails.

## Backoff

Between two attempts it waits twice as long as before, at most thirty seconds. A server that names a
delay is obeyed.

## Limits

- \`maxRetries\` is how often it tries again. The default is 2.
- \`maxElapsedMs\` ends it after a while.`,
  'docs/cache.md': `# Cache

Answers are kept for an hour. The key is a hash of the request.`,
}

const tool = (name: string, description: string, parameter?: string): OfferedTool => ({
  name,
  description,
  parameters: {
    type: 'object',
    properties: parameter === undefined ? {} : { [parameter]: { type: 'string' } },
    required: parameter === undefined ? [] : [parameter],
  },
})

const documentation = [
  tool('list_files', 'Lists the files of the documentation.'),
  tool('search_docs', 'Searches the documentation.', 'query'),
  tool('read_file', 'Reads one file of the documentation.', 'path'),
]

const run: Record<string, (argument: string) => string> = {
  list_files: () => Object.keys(files).join('\n'),
  search_docs: (query) => {
    const words = query.split(' ')
    return JSON.stringify(
      Object.entries(files)
        .filter(([, text]) => words.some((word) => text.toLowerCase().includes(word)))
        .map(([path, text]) => ({ path, excerpt: text.slice(0, 20) })),
    )
  },
  read_file: (path) => files[path] ?? `Error: no such file ${path}`,
  get_weather: (city) => `It is sunny in ${city}.`,
  broken: () => 'Error: the tool broke',
}

function conversation(overrides: Partial<ModelConversation> = {}): ModelConversation {
  return {
    instructions: '',
    turns: [],
    tools: documentation,
    toolChoice: 'auto',
    parallelCalls: true,
    format: 'text',
    maxTokens: undefined,
    stop: [],
    ...overrides,
  }
}

/** Runs the stand-in until it answers, and returns its calls and its answer. */
function ask(question: string, overrides: Partial<ModelConversation> = {}): (string | undefined)[] {
  const turns: ModelTurn[] = [
    ...(overrides.turns ?? []),
    { role: 'user', text: question, calls: [] },
  ]
  const trace: (string | undefined)[] = []
  for (let round = 0; round < 10; round++) {
    const { calls = [], text } = answer(conversation({ ...overrides, turns: [...turns] }))
    if (calls.length === 0) return [...trace, text]
    for (const call of calls) {
      const id = `call_${turns.length}`
      const argument = String(Object.values(JSON.parse(call.arguments) as object)[0])
      trace.push(`${call.name}(${argument})`)
      turns.push({ role: 'assistant', text: '', calls: [{ ...call, id }] })
      turns.push({ role: 'tool', text: run[call.name]!(argument), calls: [], callId: id })
    }
  }
  throw new Error(`no answer after ${trace.join(', ')}`)
}

describe('with tools for documentation', () => {
  it('searches, reads the best hit, and quotes the passage that fits, with the name of the file', () => {
    expect(ask('How long does the retry middleware wait between attempts?')).toEqual([
      'search_docs(long retry middleware wait between attempts)',
      'read_file(docs/retry.md)',
      'According to docs/retry.md: "Between two attempts it waits twice as long as before, at most ' +
        'thirty seconds. A server that names a delay is obeyed."',
    ])
  })

  it('quotes an entry of a list', () => {
    expect(ask('What is the default of maxRetries?').at(-1)).toBe(
      'According to docs/retry.md: "`maxRetries` is how often it tries again. The default is 2."',
    )
  })

  it('reads on when the first hit says nothing', () => {
    const found = ask('Is the hash salted with pepper?', {
      tools: documentation.filter(({ name }) => name !== 'list_files'),
    })

    expect(found).toEqual([
      'search_docs(hash salted pepper)',
      'read_file(docs/cache.md)',
      'According to docs/cache.md: "Answers are kept for an hour. The key is a hash of the request."',
    ])
  })

  it('admits that it found nothing', () => {
    expect(ask('Does it support quantum teleportation?')).toEqual([
      'search_docs(support quantum teleportation)',
      'I found nothing about support quantum teleportation: search_docs returned no results.',
    ])
  })

  it('reads a file that is named', () => {
    expect(ask('What does docs/cache.md say about the key?')).toEqual([
      'read_file(docs/cache.md)',
      'According to docs/cache.md: "Answers are kept for an hour. The key is a hash of the request."',
    ])
  })

  it('says when a file that is named is not there', () => {
    expect(ask('What is in docs/none.md about keys?').at(-1)).toMatch(
      /docs\/none.md could not be read/,
    )
  })

  it('lists the files when asked for them', () => {
    expect(ask('Which files are there?')).toEqual([
      'list_files(undefined)',
      'There are 2: docs/retry.md, docs/cache.md.',
    ])
  })

  it('without a search, lists and reads what the names promise', () => {
    const tools = documentation.filter(({ name }) => name !== 'search_docs')

    expect(ask('How does the cache make its key?', { tools })).toEqual([
      'list_files(undefined)',
      'read_file(docs/cache.md)',
      'According to docs/cache.md: "Answers are kept for an hour. The key is a hash of the request."',
    ])
  })
})

describe('with other tools', () => {
  const weather = tool('get_weather', 'Tells the weather of a city.', 'city')
  const add = {
    name: 'add',
    description: 'Adds two numbers.',
    parameters: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  }

  it('prefers one whose name is in the question to a search', () => {
    const tools = [...documentation, weather]

    expect(ask('What is the weather in Rome?', { tools })[0]).toBe('get_weather(Rome)')
  })

  it('makes one call a turn where parallel calls are off', () => {
    const question = 'What is the weather in Rome and Paris?'
    const turns = [{ role: 'user', text: question, calls: [] }] as const

    expect(answer(conversation({ tools: [weather], turns })).calls).toHaveLength(2)
    expect(
      answer(conversation({ tools: [weather], turns, parallelCalls: false })).calls,
    ).toHaveLength(1)
  })

  it('takes numbers from the question', () => {
    const turns = [{ role: 'user', text: 'What is 2.5 plus -3?', calls: [] }] as const

    expect(answer(conversation({ tools: [add], turns })).calls).toEqual([
      { name: 'add', arguments: '{"a":2.5,"b":-3}' },
    ])
  })

  it('calls nothing for a greeting, nor when it may not', () => {
    expect(ask('Hello!')).toEqual([
      'Hello. I am a deterministic stand-in for a language model. ' +
        'I can call: list_files, search_docs, read_file.',
    ])
    expect(ask('How does retry wait?', { toolChoice: 'none' })).toHaveLength(1)
  })

  it('calls a tool whenever it must, and the one it is told', () => {
    const turns = [{ role: 'user', text: 'Hello!', calls: [] }] as const

    expect(answer(conversation({ turns, toolChoice: 'required' })).calls).toHaveLength(1)
    expect(
      answer(conversation({ turns, toolChoice: { name: 'read_file' } })).calls?.[0]?.name,
    ).toBe('read_file')
  })

  it('passes on that a tool failed', () => {
    expect(ask('Is it broken?', { tools: [tool('broken', 'Breaks.')] })).toEqual([
      'broken(undefined)',
      'I could not find out: broken failed (Error: the tool broke).',
    ])
  })
})

describe('without tools', () => {
  const none = { tools: [] }

  it('says what it is', () => {
    expect(ask('Who are you?', none).at(-1)).toMatch(/I am no language model/)
    expect(ask('Which model are you?').at(-1)).toMatch(/I am no language model/)
  })

  it('claims no knowledge', () => {
    expect(ask('What is the capital of France?', none).at(-1)).toMatch(
      /^I cannot answer that: I am a deterministic stand-in .* no tools to look it up\./,
    )
  })

  it('remembers what the user said in the conversation', () => {
    const turns: ModelTurn[] = [
      { role: 'user', text: 'My name is Ada.', calls: [] },
      { role: 'assistant', text: 'Hello.', calls: [] },
    ]

    expect(ask('What is my name?', { ...none, turns })).toEqual([
      'Earlier you said: "My name is Ada."',
    ])
    expect(ask('What did I say?', { ...none, turns })).toEqual([
      'Earlier you said: "My name is Ada."',
    ])
  })
})

it('gives the same answer to the same conversation', () => {
  const question = 'How long does the retry middleware wait?'

  expect(ask(question)).toEqual(ask(question))
})
