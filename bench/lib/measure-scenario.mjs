import { duration, number, table } from './format.mjs'
import { makeProbe } from './probes.mjs'
import { interleave } from './rounds.mjs'
import { median, pairedRatio } from './statistics.mjs'

/** Measures the cases of a scenario and returns a table of them. */
export async function measureScenario({ title, cases }, workers, settings) {
  const { floor, rounds, filter, say } = settings
  const rows = []
  for (const testCase of cases.filter(({ id }) => id.includes(filter))) {
    const cells = await measureCase(testCase, workers, settings, rounds)
    rows.push({ testCase, cells })
    const said = workers.map(({ peer }) => `${peer} ${cellText(cells.get(peer), cells.get(floor))}`)
    say(`${testCase.id}: ${said.join(', ')}`)
    for (const [peer, { error }] of cells) if (error) say(`! ${peer}: ${error.message}`)
  }
  // A peer without a single cell has nothing like what is measured here.
  const columns = workers
    .map(({ peer }) => peer)
    .filter((peer) => rows.some(({ cells }) => cells.get(peer).samples.length > 0))
  const head = [title, ...columns]
  const body = rows.map(({ testCase, cells }) => [
    testCase.id,
    ...columns.map((peer) => cellText(cells.get(peer), cells.get(floor))),
  ])
  return { text: table(head, body), rows: rows.map(plainRow) }
}

async function measureCase(testCase, workers, settings, rounds) {
  const cells = new Map()
  const probes = []
  for (const worker of workers) {
    const cell = { samples: [], error: undefined }
    cells.set(worker.peer, cell)
    try {
      const probe = await makeProbe(worker, testCase, settings)
      if (probe !== undefined) probes.push({ worker, probe })
    } catch (error) {
      cell.error = error
    }
  }
  const columns = await interleave(
    probes.map(({ probe }) => probe),
    testCase.measure === 'lead' ? 3 : rounds,
  )
  for (const [index, column] of columns.entries()) cells.set(probes[index].worker.peer, column)
  return cells
}

function cellText({ samples, error }, floor) {
  if (error !== undefined) return 'failed'
  if (samples.length === 0) return 'n/s'
  const [{ lead, ahead }] = samples
  if (lead !== undefined) return number(median(samples.map((sample) => sample.lead)))
  const times = timesOf(samples)
  const isPaired = floor !== undefined && floor.samples.length === samples.length
  const ratio = isPaired ? ` (${number(pairedRatio(times, timesOf(floor.samples)))}x)` : ''
  return `${duration(median(times))}${ratio}${ahead === undefined ? '' : `, ${number(ahead)} ahead`}`
}

function timesOf(samples) {
  return samples.map(({ ns }) => ns)
}

function plainRow({ testCase, cells }) {
  const peers = [...cells].map(([peer, { samples, error }]) => [
    peer,
    { samples, error: error?.message },
  ])
  return { ...testCase, peers: Object.fromEntries(peers) }
}
