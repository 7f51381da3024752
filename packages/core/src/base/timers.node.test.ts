import { expect, test } from 'vitest'
import { backgroundTimer, callLater, systemClock } from './timers.ts'

/** Timers that keep the process alive. */
function openTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
}

test('a timer in the background does not keep the process alive, another one does', () => {
  const before = openTimers()

  const stops = [backgroundTimer(() => {}, 1000), backgroundTimer(() => {}, 2 ** 31)]
  const background = openTimers() - before
  stops.push(callLater(systemClock, 1000, () => {}))
  const both = openTimers() - before
  for (const stop of stops) stop()

  expect([background, both, openTimers() - before]).toEqual([0, 1, 0])
})
