import { mebibytes, number, table } from './format.mjs'
import { streamMemory } from './measure-memory.mjs'
import { makeProbe } from './probes.mjs'
import { interleave } from './rounds.mjs'
import { pairedRatio } from './statistics.mjs'
import { startWorker } from './workers.mjs'

/** Measures each target and says whether all of them hold. */
export async function checkTargets({ ratioTargets, memoryTarget }, settings) {
  const rows = []
  const report = (id, measured, limit, holds) => {
    rows.push([id, measured, limit, holds ? 'ok' : 'MISSED'])
    settings.say(`${id}: ${measured}, at most ${limit}`)
    return holds
  }
  let allHold = true
  for (const target of ratioTargets) {
    const ratio = await measureRatio(target, settings)
    const id = `${target.scenario}: ${target.id}`
    allHold = report(id, `${number(ratio)}x`, `${target.limit}x`, ratio <= target.limit) && allHold
  }
  const { peer, limitBytes, chunks } = memoryTarget
  const { live } = await streamMemory(peer, memoryTarget)
  const { bytes } = live.at(-1)
  const id = `M: heap growth of ${chunks.toLocaleString('en-US')} updates`
  allHold = report(id, mebibytes(bytes), mebibytes(limitBytes), bytes <= limitBytes) && allHold
  return { text: table(['target', 'measured', 'at most', ''], rows), allHold }
}

/** Both sides are fresh processes (one, if the peer is the same), measured back to back. */
async function measureRatio({ id, of, over }, settings) {
  const workers = new Map()
  try {
    for (const { peer } of [of, over]) {
      if (!workers.has(peer)) workers.set(peer, await startWorker(peer))
    }
    const probes = []
    for (const side of [of, over]) {
      probes.push(await makeProbe(workers.get(side.peer), { id, ...side }, settings))
    }
    const [left, right] = await interleave(probes, settings.rounds)
    const error = left.error ?? right.error
    if (error !== undefined) throw error
    const times = ({ samples }) => samples.map(({ ns }) => ns)
    return pairedRatio(times(left), times(right))
  } finally {
    for (const worker of workers.values()) worker.stop()
  }
}
