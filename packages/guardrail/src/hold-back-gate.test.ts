import { describe, expect, test } from 'vitest'
import type { Content } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import type { HoldBackOptions } from './hold-back-gate.ts'
import type { Update } from './hold-back-gate.test-helper.ts'
import { cut, drive, say, secret, spot, textIn, toolResult } from './hold-back-gate.test-helper.ts'
import { holdBackGate } from './hold-back-gate.ts'
import type { ReleasePolicy, ScanWindow } from './scan-options.ts'
import type { TextEdit } from './verdict.ts'

const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }

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

  test('a sentence that ends across two updates leaves with the second', async () => {
    const { steps } = await drive({ release: 'sentence', scan: () => [] }, [say('Hi.'), say(' So')])

    expect(steps).toEqual(['', 'Hi. '])
  })

  test('sentences are scanned together up to the least length', async () => {
    const lengths: number[] = []

    await drive(
      {
        release: 'sentence',
        checkEveryChars: 5,
        scan: ({ text }) => void lengths.push(text.length),
      },
      cut('1. 2. 3. 4. 5. 6. 7. 8. ', 1),
    )

    expect(lengths).toEqual([6, 12, 18, 24])
  })

  test('sentences that had to wait for the next one do not make later ones wait', async () => {
    const { steps } = await drive(
      {
        release: 'sentence',
        scan: spot(/a\. b/),
        pending: (text) => text.length - (text.endsWith('a. ') ? 3 : 0),
      },
      [say('Is a. '), say('No. '), say('Yes. ')],
    )

    expect(steps).toEqual(['', 'Is a. No. ', 'Is a. No. Yes. '])
  })

  test('a sentence may be one character long', async () => {
    const { steps } = await drive({ release: 'sentence', scan: () => [] }, [
      say('Hi.\n'),
      say('\n'),
    ])

    expect(steps).toEqual(['Hi.\n', 'Hi.\n\n'])
  })

  test.each([
    ['nothing if it is empty', 0, 'one two three', 13],
    ['the word in which it begins', 4, 'one two three', 8],
    ['the 63 characters of a word before it', 4, `one ${'x'.repeat(67)}`, 4],
    ['no more than these', 4, `one ${'x'.repeat(68)}`, 68],
  ])('a fixed hold keeps back %s', async (_, holdChars, text, left) => {
    const { steps } = await drive({ release: 'window', holdChars, scan: () => [] }, [say(text)])

    expect(steps).toEqual([text.slice(0, left)])
  })

  test('a single character leaves as soon as it is decided', async () => {
    const { steps } = await drive({ release: 'window', holdChars: 0, scan: () => [] }, [
      say('a'),
      say('\u{10000}'),
      say('b'),
    ])

    expect(steps).toEqual(['a', 'a\u{10000}', 'a\u{10000}b'])
  })

  test.each(['text', ''])('text that is only watched does not wait: "%s"', (text) => {
    const gate = holdBackGate({ release: 'passthrough', scan: () => new Promise(() => {}) })
    const left: Update[] = []
    const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }

    void gate.transform?.(say(text), controller)

    expect(left).toEqual([say(text)])
  })

  test('half a character at the end is not lost', async () => {
    const { updates } = await drive({ release: 'passthrough', scan: () => [] }, [say('a\ud83d')])

    expect(textIn(updates)).toBe('a\ud83d')
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

  test.each([
    [
      'an index',
      (index: number, isFirst: boolean) => ({ callId: isFirst ? `c${index}` : '', index }),
    ],
    ['an id', (index: number) => ({ callId: `c${index}` })],
  ])(
    'arguments of calls with %s that arrive in turns are judged call by call',
    async (_, about) => {
      const call = (index: number, json: string): Update => {
        const ids = about(index, json.startsWith('{'))
        return say('', {
          contents: [{ type: 'function-call', name: 'f', arguments: json, ...ids }],
        })
      }

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
    },
  )

  test('a text of which nothing remains is left out, and a call stays a call', async () => {
    const call = { type: 'function-call', callId: 'c1', name: 'f', arguments: 'secret' } as const
    const scan = spot(/secret/, { replacement: '' })

    const { updates } = await drive(
      { ...secret, release: 'window', parts: ['text', 'arguments'], scan },
      [...cut('a secret', 1), say('', { contents: [call] })],
    )

    expect(updates.flatMap(({ contents }) => contents)).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: ' ' },
      { ...call, arguments: '' },
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

  test('what tells of a whole text leaves once, with the last of it', async () => {
    const annotations = [{ type: 'citation' }] as const

    const { updates } = await drive({ release: 'window', ...secret }, [
      say('', { contents: [{ type: 'text', text: 'the s', annotations }] }),
    ])

    expect(updates.flatMap(({ contents }) => contents)).toEqual([
      { type: 'text', text: 'the ' },
      { type: 'text', text: 's', annotations },
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

  test('may find matches in any order', async () => {
    const reached: number[] = []
    const scan = ({ text, from }: ScanWindow): TextEdit[] =>
      Array.from(text.matchAll(/\d/g), ({ index }) => ({
        start: index,
        end: index + 1,
        replacement: '*',
        onReached: () => void reached.push(Number(text[index])),
      }))
        .filter(({ start }) => start >= from)
        .toReversed()

    const { steps } = await drive({ release: 'window', holdChars: 3, scan }, [
      say('1 2 3 and 4'),
      say(' and 5'),
    ])

    expect(steps).toEqual(['* * * ', '* * * and * '])
    expect(reached).toEqual([1, 2, 3, 4, 5])
  })

  test('may find again what it has found before, without an effect', async () => {
    const scan = ({ text }: ScanWindow): TextEdit[] => spot(/secret/)({ text, from: 0 } as never)

    const { updates } = await drive({ release: 'window', holdChars: 0, scan }, [
      say('a secret'),
      say(' and'),
    ])

    expect(textIn(updates)).toBe('a * and')
  })

  test('may find a match within another, and hears of both', async () => {
    const reached: string[] = []
    const scan = ({ text }: ScanWindow): TextEdit[] =>
      ['the secret', 'secret'].map((match) => ({
        start: text.indexOf(match),
        end: text.indexOf(match) + match.length,
        onReached: () => void reached.push(match),
      }))

    await drive({ release: 'full', scan }, [say('Keep the secret.')])

    expect(reached).toEqual(['the secret', 'secret'])
  })

  test('that gives no replacement leaves the text as it is', async () => {
    let reached = 0
    const scan = spot(/secret/, { onReached: () => reached++ })

    const { updates } = await drive({ release: 'full', scan }, [say('a secret')])

    expect(reached).toBe(1)
    expect(textIn(updates)).toBe('a secret')
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

  test('twice is told once if nothing has left since', async () => {
    const { updates } = await drive({ release: 'window', ...secret }, [
      say('the sec'),
      again,
      say('s', { messageId: 'm2' }),
      again,
    ])

    expect(updates).toEqual([say('the '), again])
  })

  test('as a whole run does not continue the text before it', async () => {
    const restart: Update = { contents: [], restart: true, scope: 'run' }

    const { updates } = await drive({ release: 'full', ...secret }, [
      say('the sec'),
      toolResult,
      restart,
      say('ret'),
    ])

    expect(updates).toEqual([say('ret')])
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

  test('continues the text before it, and not its own', async () => {
    const { updates } = await drive({ release: 'window', ...secret }, [
      say('the sec'),
      toolResult,
      say('s', { messageId: 'm2' }),
      again,
      say('ret', { messageId: 'm3' }),
    ])

    expect(textIn(updates)).toBe('the sec*')
  })

  test('may come with the usage of the one before', async () => {
    const usage = { outputTokens: 3 }

    const { updates } = await drive({ release: 'full', ...secret }, [
      say('old'),
      { ...again, usage },
      say('new'),
    ])

    expect(updates).toEqual([{ contents: [], usage }, say('new')])
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
