import { expect, test } from 'vitest'
import { takeTurn } from './take-turn.ts'

/** Waits until nothing but promises is left to wait for. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

function setUp() {
  const turns = new Map<string, Promise<void>>()
  const entered: string[] = []
  const enter = (name: string, signal = new AbortController().signal): Promise<() => void> =>
    takeTurn(turns, 'key', signal).then((end) => {
      entered.push(name)
      return end
    })
  return { turns, entered, enter }
}

test('turns of one key come one after the other, and leave nothing behind', async () => {
  const { turns, entered, enter } = setUp()
  const [first, second, third] = [enter('first'), enter('second'), enter('third')]

  const end = await first
  await settle()
  expect(entered).toEqual(['first'])
  end()
  const endSecond = await second
  await settle()
  expect(entered).toEqual(['first', 'second'])
  expect(turns.size).toBe(1)
  endSecond()
  const endThird = await third
  endThird()
  await settle()

  expect(entered).toEqual(['first', 'second', 'third'])
  expect(turns.size).toBe(0)
})

test('a turn that begins while another one waits comes behind it', async () => {
  const { entered, enter } = setUp()
  const end = await enter('first')
  const second = enter('second')

  end()
  await second
  void enter('third')
  await settle()

  expect(entered).toEqual(['first', 'second'])
})

test('who gives up lets nobody enter before their turn', async () => {
  const { entered, enter } = setUp()
  const end = await enter('first')
  const second = enter('second', AbortSignal.abort('enough'))
  const third = enter('third')

  await expect(second).rejects.toBe('enough')
  await settle()
  expect(entered).toEqual(['first'])
  end()
  await third

  expect(entered).toEqual(['first', 'third'])
})
