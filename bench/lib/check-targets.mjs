import { mebibytes, number, table } from './format.mjs'
import { streamMemory } from './measure-memory.mjs'
import { makeProbe } from './probes.mjs'
import { interleave } from './rounds.mjs'
import { pairedRatio } from './statistics.mjs'
import { startWorker } from './workers.mjs'

/** Measures each target, also what the contract of a middleware alone takes of it, and says whether all hold. */
export async function checkTargets({ ratioTargets, memoryTarget }, settings) {
  const rows = []
  const report = (id, measured, limit, holds, contract = '') => {
    rows.push([id, measured, contract, limit, holds ? 'ok' : 'MISSED'])
    settings.say(`${id}: ${measured}${contract && ` (contract ${contract})`}, at most ${limit}`)
    return holds
  }
  let allHold = true
  for (const target of ratioTargets) {
    const ratio = await measureRatio(target, settings)
    const id = `${target.scenario}: ${target.id}`
    const contract =
      target.of.peer === 'lamella'
        ? `${number(await measureRatio(withContract(target), settings))}x`
        : undefined
    const holds = ratio <= target.limit
    allHold = report(id, `${number(ratio)}x`, `${target.limit}x`, holds, contract) && allHold
  }
  const { peer, limitBytes, chunks } = memoryTarget
  const { live } = await streamMemory(peer, memoryTarget)
  const { bytes } = live.at(-1)
  const id = `M: heap growth of ${chunks.toLocaleString('en-US')} updates`
  allHold = report(id, mebibytes(bytes), mebibytes(limitBytes), bytes <= limitBytes) && allHold
  return { text: table(['target', 'measured', 'contract alone', 'at most', ''], rows), allHold }
}

/** The same target for the floor that keeps the contract and does nothing else. */
function withContract({ id, of, over }) {
  const swap = (side) => (side.peer === 'lamella' ? { ...side, peer: 'contract' } : side)
  return { id, of: swap(of), over: swap(over) }
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
