import type { Message } from '@lamella/core'

/**
 * Leaves out the oldest turns until what is left fits: a turn begins at a message of the user, so that
 * calls and their results stay together. Instructions and the last turn stay. Nothing if that does not fit.
 */
export function dropOldestTurns(
  messages: readonly Message[],
  fits: (messages: readonly Message[]) => boolean,
): readonly Message[] | undefined {
  const starts = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []))
  const kept = (start: number): readonly Message[] =>
    messages.filter(({ role }, index) => index >= start || role === 'system')
  // The fewest turns that have to go.
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(kept(starts[middle]!))) high = middle
    else low = middle + 1
  }
  return low < starts.length ? kept(starts[low]!) : undefined
}
