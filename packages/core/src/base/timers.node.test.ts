import { expect, test } from 'vitest'
import { backgroundTimer } from './timers.ts'

test('a timer in the background does not keep the process alive', () => {
  const timer = backgroundTimer(() => {}, 1000)

  expect(timer.hasRef()).toBe(false)
  clearTimeout(timer)
})
