/**
 * Makes the function that takes one sample of a case from a worker; undefined where its peer has no
 * such thing. With `ofProcess`, times are those that the process used, whatever else the machine does.
 * The first batch is the warm-up, and the first check of the outputs.
 */
export async function makeProbe(worker, testCase, { meter, ms, warmMs, ofProcess = false }) {
  const { method, params, measure = 'batch', more, per = 1 } = testCase
  const prepare = async (slot, of) => {
    const { unsupported } = await worker.ask('prepare', { slot, method, params: of })
    if (unsupported) return false
    if (measure !== 'lead') await worker.ask('batch', { slot, ms: warmMs })
    return true
  }
  const slot = `${testCase.id} ${JSON.stringify(params)}`
  if (!(await prepare(slot, params))) return undefined
  if (measure === 'lead') return () => worker.ask('lead', { slot })

  const time = async (of) => {
    const sample = await meter.ask(worker, measure, { slot: of, ms })
    return ofProcess ? { ...sample, ns: sample.cpuNs } : sample
  }
  if (more === undefined) {
    return async () => {
      const { ns, ahead } = await time(slot)
      return { ns: ns / per, ahead }
    }
  }
  const moreSlot = `${slot} and more`
  await prepare(moreSlot, { ...params, ...more.params })
  return async () => {
    const base = await time(slot)
    const other = await time(moreSlot)
    return { ns: (other.ns - base.ns) / more.by }
  }
}
