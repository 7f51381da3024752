import { checkCounters, checkText } from './prepare.mjs'
import { median } from './statistics.mjs'
import { counters, resetCounters } from './toolkit.mjs'

/** Nanoseconds. */
const now = () => performance.now() * 1e6
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Nanoseconds of one run, by the clock and of this process. A lead-in before it is not counted. */
export async function batch(subject, ms) {
  await loop(subject, ms / 5)
  resetCounters()
  const before = process.cpuUsage()
  const { ops, elapsedNs } = await loop(subject, ms)
  const { user, system } = process.cpuUsage(before)
  checkCounters(subject.expect, ops)
  return { ns: elapsedNs / ops, cpuNs: ((user + system) * 1e3) / ops, elapsedNs }
}

// The clock is read once per block of about 0.2 ms, so that it costs nothing where a run takes 200 ns.
// After each block the loop goes once around the event loop, as a real model call would: timers and
// clean-up run, and a peer pays for what it deferred.
async function loop(subject, ms) {
  const { run, text } = subject
  const start = now()
  const end = start + ms * 1e6
  let ops = 0
  let time = start
  do {
    const { step } = subject
    for (let op = 0; op < step; op++) {
      const got = await run()
      if (got !== text) checkText(got, text)
    }
    ops += step
    if (now() - time < 100_000 && step < 4096) subject.step *= 2
    await turn()
    time = now()
  } while (time < end)
  return { ops, elapsedNs: time - start }
}

/** Nanoseconds to the first chunk, and how many chunks the source had made by then. */
export async function firstChunk({ stream, text }, ms) {
  const times = []
  const ahead = []
  const start = now()
  do {
    const producedBefore = counters.produced
    const asked = now()
    let first
    const final = await stream(() => {
      if (first !== undefined) return
      first = now() - asked
      ahead.push(counters.produced - producedBefore)
    })
    checkText(final, text)
    times.push(first)
    await turn()
  } while (now() - start < ms * 1e6)
  return { ns: median(times), ahead: median(ahead), elapsedNs: now() - start }
}

/** How many chunks the source is ahead, at most, of a consumer that takes an event-loop turn for each. */
export async function largestLead({ stream, text }) {
  const producedBefore = counters.produced
  let seen = 0
  let lead = 0
  const final = await stream(() => {
    seen++
    lead = Math.max(lead, counters.produced - producedBefore - seen)
    return turn()
  })
  checkText(final, text)
  return { lead }
}
