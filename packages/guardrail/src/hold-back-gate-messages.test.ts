import { describe, expect, test } from 'vitest'
import type { Update } from './hold-back-gate.test-helper.ts'
import { drive, say, secret, textIn } from './hold-back-gate.test-helper.ts'
import { holdBackGate } from './hold-back-gate.ts'

const again: Update = { contents: [], restart: true }
const sentence = { release: 'sentence', scan: () => [] } as const

function unnamed(text: string, role?: 'user' | 'assistant'): Update {
  return { contents: [{ type: 'text', text }], ...(role && { role }) }
}

describe('a sentence without an end', () => {
  test.each<[string, readonly Update[], readonly string[]]>([
    ['another id', [say('One'), say('Two', { messageId: 'm2' })], ['', 'One']],
    ['another role', [unnamed('One', 'user'), unnamed('Two', 'assistant')], ['', 'One']],
    [
      'another id, with an update without one in between',
      [say('One'), unnamed(' more'), say('Two', { messageId: 'm2' })],
      ['', '', 'One more'],
    ],
  ])('leaves when a message begins that has %s', async (_, updates, expected) => {
    expect((await drive(sentence, updates)).steps).toEqual(expected)
  })

  test.each<[string, readonly Update[]]>([
    ['has no id', [say('One'), unnamed(' more')]],
    ['is the first to have one', [unnamed('One'), say(' more')]],
    [
      'is the first to have one since another role spoke',
      [say('', { role: 'user' }), unnamed('One', 'assistant'), say(' more', { messageId: 'm2' })],
    ],
  ])('waits if the next update %s', async (_, updates) => {
    expect((await drive(sentence, updates)).steps).toEqual(updates.map(() => ''))
  })
})

test.each<[string, Update]>([
  ['thinking', { contents: [{ type: 'reasoning', text: 'ret' }], messageId: 'm2' }],
  ['text of a tool', say('ret', { role: 'tool', messageId: 'm2' })],
])('%s does not continue the text before it', async (_, update) => {
  const { updates } = await drive({ release: 'full', ...secret, parts: ['text', 'reasoning'] }, [
    say('the sec'),
    update,
  ])

  expect(updates).toEqual([say('the sec'), update])
})

describe('a call that starts anew', () => {
  test.each([
    ['an update', 'One.\n', 'assistant', [again]],
    ['an edited update', 'secret', 'assistant', [again]],
    ['an edited result before the call', 'secret', 'tool', []],
  ] as const)(
    'after %s has left, tells those outside as far as it concerns them',
    async (_, text, role, told) => {
      const { updates } = await drive({ release: 'window', holdChars: 0, ...secret }, [
        say(text, { role }),
        again,
      ])

      expect(updates.slice(1)).toEqual(told)
    },
  )

  test('has nothing to do with the message before it', async () => {
    const { steps } = await drive(sentence, [
      say('old'),
      again,
      unnamed('One'),
      say(' more', { messageId: 'm2' }),
    ])

    expect(steps).toEqual(['', '', '', ''])
  })

  test('drops what was held behind an update without contents, too', async () => {
    const { updates } = await drive({ release: 'full', ...secret }, [
      say('old'),
      { contents: [], usage: { outputTokens: 3 } },
      again,
      say('new'),
    ])

    expect(textIn(updates)).toBe('new')
  })

  test('does not continue its own text, in however many updates that came', async () => {
    const { updates } = await drive({ release: 'full', ...secret }, [
      say('the s'),
      say('ec'),
      again,
      say('ret', { messageId: 'm2' }),
    ])

    expect(textIn(updates)).toBe('ret')
  })
})

describe('a new pass', () => {
  async function twice(release: 'full' | 'window', second: readonly Update[]) {
    const gate = holdBackGate({ release, ...secret })
    const left: Update[] = []
    const controller = { enqueue: (update: Update) => void left.push(update), terminate: () => {} }
    await gate.start?.(controller)
    await gate.transform?.(say('One.'), controller)
    await gate.flush?.(controller)
    left.length = 0
    await gate.start?.(controller)
    for (const update of second) await gate.transform?.(update, controller)
    return left
  }

  test('holds text to its own end, and not to that of the pass before', async () => {
    expect(await twice('full', [say('Two.'), say('Three.', { messageId: 'm2' })])).toEqual([])
  })

  test('takes back nothing of the pass before', async () => {
    expect(await twice('window', [again])).toEqual([])
  })
})
