import type { Message } from '@lamella/core'

/**
 * Removes the oldest turns until the rest is within the limit. A turn begins with a message of the user, so
 * calls stay with their results. Instructions and the last turn stay. Returns `undefined` if they alone
 * exceed the limit.
 */
export function dropOldestTurns(
  messages: readonly Message[],
  fits: (messages: readonly Message[]) => boolean,
): readonly Message[] | undefined {
  const starts = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []))
  const kept = (start: number): readonly Message[] =>
    messages.filter(({ role }, index) => index >= start || role === 'system')
  // Finds the smallest number of turns to remove.
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(kept(starts[middle]!))) high = middle
    else low = middle + 1
  }
  return low < starts.length ? kept(starts[low]!) : undefined
}
