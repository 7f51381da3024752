import { checkCounters, checkText } from './prepare.mjs'
import { expectedStreamText, resetCounters } from './toolkit.mjs'

/**
 * Memory of one long stream whose consumer keeps nothing, in a process of its own that was started
 * with `--expose-gc`. `live` is the heap that survives a collection at 10, 50 and 90 % of the stream,
 * above what did before it began; `resident` is the peak of the process's memory above its start,
 * without any forced collection meanwhile.
 */
export async function memory(adapter, { chunks, k, kind }) {
  const warmUp = adapter.stream?.({ chunks: 2000, k })
  if (warmUp === undefined) return { unsupported: true }
  for (let round = 0; round < 5; round++) await warmUp.run(() => {})
  const { run, expect } = adapter.stream({ chunks, k })
  await collect()
  resetCounters()

  const residentBefore = process.memoryUsage.rss()
  const heapBefore = heap()
  const live = []
  const marks = new Set([0.1, 0.5, 0.9].map((share) => Math.round(share * chunks)))
  let seen = 0
  const text = await run(() => {
    seen++
    if (kind !== 'live' || !marks.has(seen)) return
    globalThis.gc()
    live.push({ seen, bytes: heap() - heapBefore })
  })
  const resident = process.resourceUsage().maxRSS * 1024 - residentBefore

  checkText(text, expectedStreamText(chunks))
  checkCounters({ ...expect, produced: chunks }, 1)
  return { live, resident }
}

async function collect() {
  globalThis.gc()
  await new Promise((resolve) => setTimeout(resolve, 100))
  globalThis.gc()
}

function heap() {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
