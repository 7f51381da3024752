import { describe, expect, test } from 'vitest'
import type { AgentResponseUpdate } from '../contract/outcome.ts'
import type { Content } from '../messages/content.ts'
import { foldUpdates } from '../messages/response-fold.ts'
import type { HoldBackOptions } from './hold-back-gate.ts'
import { holdBackGate } from './hold-back-gate.ts'
import type { ReleasePolicy, ScanWindow } from './scan-options.ts'
import { strictest } from './scan-options.ts'
import type { TextEdit } from './verdict.ts'

type Update = AgentResponseUpdate

interface Outcome {
  readonly updates: readonly Update[]
  readonly error: unknown
  /** Returns the passed text after each update. */
  readonly steps: readonly string[]
}

async function drive(options: HoldBackOptions, updates: readonly Update[]): Promise<Outcome> {
  const gate = holdBackGate(options)
  const left: Update[] = []
  const steps: string[] = []
  const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }
  try {
    await gate.start?.(controller)
    for (const update of updates) {
      await gate.transform?.(update, controller)
      steps.push(textIn(left))
    }
    await gate.flush?.(controller)
    return { updates: left, error: undefined, steps }
  } catch (error) {
    return { updates: left, error, steps }
  }
}

function textIn(updates: readonly Update[]): string {
  return updates
    .flatMap(({ contents }) => contents.map((c) => (c.type === 'text' ? c.text : '')))
    .join('')
}

function say(text: string, rest: Partial<Update> = {}): Update {
  return { contents: [{ type: 'text', text }], role: 'assistant', messageId: 'm1', ...rest }
}

function cut(text: string, size: number): Update[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    say(text.slice(at * size, (at + 1) * size)),
  )
}

function spot(pattern: RegExp): HoldBackOptions['scan'] {
  return ({ text, from }) => {
    const found: TextEdit[] = []
    const matcher = new RegExp(pattern, 'gu')
    matcher.lastIndex = from
    for (let match = matcher.exec(text); match !== null; match = matcher.exec(text)) {
      found.push({ start: match.index, end: matcher.lastIndex, replacement: '*' })
    }
    return found
  }
}

const secret = {
  scan: spot(/secret/),
  pending: (text: string) => {
    const open = ['secre', 'secr', 'sec', 'se', 's'].find((start) => text.endsWith(start))
    return text.length - (open?.length ?? 0)
  },
}
const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }
const toolResult: Update = {
  role: 'tool',
  messageId: 't1',
  contents: [{ type: 'function-result', callId: 'c1', contents: [] }],
}

describe('what leaves when', () => {
  test.each<[ReleasePolicy, string[]]>([
    ['passthrough', ['Hi. So s', 'Hi. So secluded. The ', 'Hi. So secluded. The end']],
    ['window', ['Hi. So ', 'Hi. So secluded. The ', 'Hi. So secluded. The end']],
    ['sentence', ['Hi. ', 'Hi. So secluded. ', 'Hi. So secluded. ']],
    ['full', ['', '', '']],
  ])('%s', async (release, expected) => {
    const { steps, updates } = await drive({ release, ...secret }, [
      say('Hi. So s'),
      say('ecluded. The '),
      say('end'),
    ])

    expect(steps).toEqual(expected)
    expect(textIn(updates)).toBe('Hi. So secluded. The end')
  })

  test('updates that need no change leave as the objects they were', async () => {
    const input = [say('Hello '), say('there', { raw: {} }), { contents: [], finishReason: 'stop' }]

    const { updates } = await drive({ release: 'full', ...secret }, input)

    expect(updates).toHaveLength(3)
    for (const [at, update] of updates.entries()) expect(update).toBe(input[at])
  })

  test('a part waits behind held text that came before it, and not behind text that comes after', async () => {
    const { steps, updates } = await drive({ release: 'window', ...secret }, [
      { ...say('a '), contents: [image, { type: 'text', text: 'a sec' }] },
      { ...say(''), contents: [image] },
      say('ond'),
    ])

    expect(steps).toEqual(['a ', 'a ', 'a second'])
    expect(updates.flatMap(({ contents }) => contents.map(({ type }) => type))).toEqual([
      'data',
      'text',
      'text',
      'data',
      'text',
    ])
  })

  test('text is judged across the parts that stand in it', async () => {
    const { updates } = await drive({ release: 'window', ...secret }, [
      say('the sec'),
      { ...say(''), contents: [{ type: 'reasoning', text: 'hm' }, image] },
      say('ret is out'),
    ])

    expect(textIn(updates)).toBe('the * is out')
  })

  test('held text leaves when its message ends, and the next one continues it', async () => {
    const { steps } = await drive({ release: 'window', ...secret }, [
      say('the sec'),
      toolResult,
      say('ret', { messageId: 'm2' }),
    ])

    expect(steps).toEqual(['the ', 'the sec', 'the sec*'])
  })

  test('messages without ids are told apart by their roles', async () => {
    const { steps } = await drive({ release: 'window', ...secret }, [
      { contents: [{ type: 'text', text: 'the sec' }] },
      { contents: [{ type: 'function-result', callId: 'c1', contents: [] }] },
      { contents: [{ type: 'text', text: 'ret' }] },
    ])

    expect(steps).toEqual(['the ', 'the sec', 'the sec*'])
  })

  test('thinking is judged on its own, and text does not wait for its end', async () => {
    const think = (text: string): Update => say('', { contents: [{ type: 'reasoning', text }] })

    const { steps, updates } = await drive(
      { release: 'window', parts: ['text', 'reasoning'], holdChars: 50, scan: secret.scan },
      [think('a secret, a sec'), say('ret'.padEnd(80, '.'))],
    )

    expect(foldUpdates(updates).messages[0]?.contents).toEqual([
      { type: 'reasoning', text: 'a *, a sec' },
      { type: 'text', text: 'ret'.padEnd(80, '.') },
    ])
    expect(steps[1]).toBe('ret'.padEnd(30, '.'))
  })

  test('arguments of calls that arrive in turns are judged call by call', async () => {
    const call = (index: number, text: string): Update =>
      say('', {
        contents: [
          { type: 'function-call', callId: `c${index}`, name: 'f', arguments: text, index },
        ],
      })

    const { updates } = await drive({ release: 'window', parts: ['arguments'], ...secret }, [
      call(0, '{"q":"sec'),
      call(1, '{"q":"se'),
      call(0, 'ret"}'),
      call(1, 'cond"}'),
    ])

    expect(foldUpdates(updates).functionCalls.map((made) => made.arguments)).toEqual([
      '{"q":"*"}',
      '{"q":"second"}',
    ])
  })

  test('what tells of a whole update leaves once, with the last of it', async () => {
    const { updates } = await drive({ release: 'window', ...secret }, [
      say('the s', { finishReason: 'stop', usage: { outputTokens: 3 }, raw: {} }),
    ])

    expect(updates.map(({ finishReason, usage, raw }) => ({ finishReason, usage, raw }))).toEqual([
      { finishReason: undefined, usage: undefined, raw: undefined },
      { finishReason: 'stop', usage: { outputTokens: 3 }, raw: undefined },
    ])
  })

  test('nothing that tells of the old text stays on an edited one', async () => {
    const { updates } = await drive({ release: 'window', parts: ['reasoning'], ...secret }, [
      say('', {
        contents: [{ type: 'reasoning', text: 'a secret', annotations: [{ type: 'citation' }] }],
      }),
      say('', {
        contents: [
          {
            type: 'reasoning',
            text: '',
            protected: 'signature',
            providerData: { text: 'a secret' },
          },
        ],
      }),
    ])

    expect(foldUpdates(updates).messages[0]?.contents).toEqual([{ type: 'reasoning', text: 'a *' }])
  })

  test('an event passes at once, since someone may have to answer it', async () => {
    const event: Update = { contents: [], event: { type: 'ask', id: 'e1', runId: 'r1' } }

    const { updates } = await drive({ release: 'full', ...secret }, [say('text'), event])

    expect(updates[0]).toBe(event)
  })
})

describe('a scan', () => {
  test('that throws fails the call, and nothing that was held leaves', async () => {
    const blocked = new Error('blocked')
    const scan = ({ text }: ScanWindow): undefined => {
      if (text.includes('secret')) throw blocked
    }

    const { updates, error } = await drive({ release: 'window', holdChars: 10, scan }, [
      say('it is a very secr'),
      say('et thing'),
    ])

    expect(error).toBe(blocked)
    expect(textIn(updates)).toBe('it is ')
  })

  test('that overlaps itself leaves none of the stretch', async () => {
    const scan = (): TextEdit[] => [
      { start: 4, end: 9, replacement: '#' },
      { start: 1, end: 6, replacement: '*' },
    ]

    const { updates } = await drive({ release: 'full', scan }, [say('0123456789')])

    expect(textIn(updates)).toBe('0*9')
  })

  test('that knows word boundaries sees them, wherever the text is cut', async () => {
    const text = 'barfoo foo'.repeat(30)

    const { updates } = await drive(
      { release: 'window', holdChars: 4, scan: spot(/\bfoo(?=bar)/) },
      cut(text, 1),
    )

    expect(textIn(updates)).toBe(text.replaceAll(' foobar', ' *bar'))
  })

  test('is never shown a window that begins inside a character', async () => {
    const scan = ({ text, from }: ScanWindow): undefined => {
      expect(text.slice(from, from + 1)).not.toMatch(/[\udc00-\udfff]/)
    }

    const { error } = await drive({ release: 'window', holdChars: 1, scan }, cut('😀😀a😀😀', 1))

    expect(error).toBeUndefined()
  })

  test('that is asked at set distances is never shown a window that ends inside a character', async () => {
    const shown: string[] = []
    const scan = ({ text }: ScanWindow): undefined => void shown.push(text)

    await drive({ release: 'full', checkEveryChars: 1, scan }, cut('😀a𐀀', 1))

    expect(shown).toEqual(['😀', '😀a', '😀a𐀀', '😀a𐀀'])
  })

  test('may be async, with the same result', async () => {
    const scan: HoldBackOptions['scan'] = async (window) => secret.scan(window)

    const { updates } = await drive(
      { ...secret, release: 'window', scan },
      cut('a secret, a second secret', 4),
    )

    expect(textIn(updates)).toBe('a *, a second *')
  })

  test('that is async is not asked for every chunk', async () => {
    let scans = 0
    const scan: HoldBackOptions['scan'] = async () => void scans++

    await drive(
      { release: 'window', scan },
      Array.from({ length: 2000 }, () => say('x')),
    )

    expect(scans).toBeLessThan(10)
  })

  test.each<[string, Partial<HoldBackOptions>]>([
    ['window', { release: 'window', pending: () => 0 }],
    ['window at set distances', { release: 'window', pending: () => 0, checkEveryChars: 1 }],
    ['sentence', { release: 'sentence', pending: () => 0 }],
    ['full', { release: 'full' }],
  ])(
    'reads a long text that never ends a match a bounded number of times: %s',
    async (_, options) => {
      let read = 0
      const scan = ({ text }: ScanWindow): undefined => void (read += text.length)
      const length = 50_000

      await drive(
        { release: 'full', ...options, scan },
        Array.from({ length: length / 2 }, () => say('! ')),
      )

      expect(read).toBeLessThan(30 * length)
    },
  )
})

describe('a call that starts anew', () => {
  const again: Update = { contents: [], restart: true }

  test('drops what was held and says nothing if none of the call had left', async () => {
    const { updates } = await drive({ release: 'full', ...secret }, [
      say('the sec'),
      again,
      say('ret', { messageId: 'm2' }),
    ])

    expect(updates).toEqual([say('ret', { messageId: 'm2' })])
  })

  test('is told to those outside if some of the call had left', async () => {
    const { updates } = await drive({ release: 'window', ...secret }, [
      say('the sec'),
      again,
      say('ret', { messageId: 'm2' }),
    ])

    expect(updates).toEqual([say('the '), again, say('ret', { messageId: 'm2' })])
  })

  test('keeps what is held of earlier calls', async () => {
    const { updates } = await drive({ release: 'full', ...secret }, [
      say('one '),
      toolResult,
      say('two', { messageId: 'm2' }),
      again,
      say('three'),
    ])

    expect(updates).toEqual([say('one '), toolResult, say('three')])
  })

  test('of a call after tool results counts only what left of that call', async () => {
    const { updates } = await drive({ release: 'window', ...secret }, [
      say('one '),
      toolResult,
      say('sec', { messageId: 'm2' }),
      again,
      say('three'),
    ])

    expect(updates).toEqual([say('one '), toolResult, say('three')])
  })

  test('of the whole run drops everything', async () => {
    const restart: Update = { contents: [], restart: true, scope: 'run' }

    const held = await drive({ release: 'full', ...secret }, [
      say('one '),
      toolResult,
      restart,
      say('two'),
    ])
    const left = await drive({ release: 'window', ...secret }, [
      say('one '),
      toolResult,
      restart,
      say('two'),
    ])

    expect(held.updates).toEqual([say('two')])
    expect(left.updates).toEqual([say('one '), toolResult, restart, say('two')])
  })

  test('may come with its first contents', async () => {
    const { updates } = await drive({ release: 'full', ...secret }, [
      say('old'),
      say('new', { restart: true }),
    ])

    expect(updates).toEqual([say('new')])
  })

  test('and a new pass too drop what was held', async () => {
    const gate = holdBackGate({ release: 'full', ...secret })
    const left: Update[] = []
    const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }

    await gate.transform?.(say('old sec'), controller)
    await gate.start?.(controller)
    await gate.transform?.(say('ret'), controller)
    await gate.flush?.(controller)

    expect(textIn(left)).toBe('ret')
  })
})

describe('a gate that waits for a promise', () => {
  test('lets nothing leave before it resolves', async () => {
    let resolve = (): void => {}
    const until = new Promise<void>((settle) => {
      resolve = settle
    })
    const gate = holdBackGate({ release: 'passthrough', scan: () => [], until })
    const left: Update[] = []
    const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }

    await gate.transform?.(say('one '), controller)
    const flushing = gate.flush?.(controller)
    await new Promise((settle) => setTimeout(settle, 0))
    const before = textIn(left)
    resolve()
    await flushing

    expect(before).toBe('')
    expect(textIn(left)).toBe('one ')
  })

  test('lets pass what comes after it has resolved', async () => {
    const { steps } = await drive(
      { release: 'passthrough', scan: () => [], until: Promise.resolve() },
      [say('one '), say('two')],
    )

    expect(steps.at(-1)).toBe('one two')
  })

  test('fails at the next update with what it rejects with, and nothing has left', async () => {
    const reason = new Error('blocked')

    const { updates, error, steps } = await drive(
      { release: 'passthrough', scan: () => [], until: Promise.reject(reason) },
      [say('one')],
    )

    expect(error).toBe(reason)
    expect(updates).toEqual([])
    expect(steps).toEqual([])
  })
})

test('the strictest of several policies holds', () => {
  expect(strictest(['window', 'full', 'passthrough'])).toBe('full')
  expect(strictest(['passthrough', 'sentence', 'window'])).toBe('sentence')
  expect(strictest([])).toBe('passthrough')
})
