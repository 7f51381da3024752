import { mebibytes, number, table } from './format.mjs'
import { median } from './statistics.mjs'
import { startWorker } from './workers.mjs'

/** Measures the memory of one long stream for each peer and returns a table. */
export async function measureMemory(peers, { chunks, middlewareCounts }, say) {
  const rows = []
  const results = []
  for (const peer of peers) {
    for (const k of middlewareCounts) {
      const measured = await streamMemory(peer, { chunks, k })
      if (measured === undefined) continue
      const { resident, live } = measured
      const last = live.at(-1)
      results.push({ peer, k, ...measured })
      rows.push([
        `${peer}, k=${k}`,
        mebibytes(resident),
        ...live.map(({ bytes }) => mebibytes(bytes)),
        number(last.bytes / last.seen),
      ])
      say(`${peer}, k=${k}: ${mebibytes(last.bytes)} of live heap at 90 %`)
    }
  }
  const head = [
    `one stream of ${chunks.toLocaleString('en-US')} updates`,
    'peak of resident memory',
    'live heap at 10 %',
    'at 50 %',
    'at 90 %',
    'bytes kept per update',
  ]
  return { text: table(head, rows), rows: results }
}

/** Medians of three fresh processes for each kind of figure; undefined where a peer has no streams. */
export async function streamMemory(peer, { chunks, k }) {
  const resident = []
  const live = []
  for (let round = 0; round < 3; round++) {
    const loose = await inFreshProcess(peer, { chunks, k, kind: 'resident' })
    if (loose.unsupported) return undefined
    resident.push(loose.resident)
    live.push((await inFreshProcess(peer, { chunks, k, kind: 'live' })).live)
  }
  return {
    resident: median(resident),
    live: live[0].map(({ seen }, mark) => ({
      seen,
      bytes: median(live.map((marks) => marks[mark].bytes)),
    })),
  }
}

async function inFreshProcess(peer, params) {
  const worker = await startWorker(peer, ['--expose-gc'])
  try {
    return await worker.ask('memory', params)
  } finally {
    worker.stop()
  }
}
