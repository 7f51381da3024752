import { readFileSync } from 'node:fs'

/**
 * Watches what else the machine does during a batch. The returned function says how many cores other
 * processes used since (on Linux; elsewhere 0), and how long a fixed piece of work took, before or after.
 */
export function watchLoad() {
  const spinBefore = spin()
  const busyBefore = busyMs()
  const cpuBefore = process.cpuUsage()
  return (ns) => {
    const { user, system } = process.cpuUsage(cpuBefore)
    const busy = busyMs() - busyBefore
    const foreign = Math.max(0, (busy - (user + system) / 1000) / (ns / 1e6))
    return { foreign: Number.isNaN(foreign) ? 0 : foreign, spin: Math.max(spinBefore, spin()) }
  }
}

/** CPU time of all processes so far; NaN where the system does not say. */
function busyMs() {
  let line
  try {
    ;[line] = readFileSync('/proc/stat', 'utf8').split('\n', 1)
  } catch {
    return Number.NaN
  }
  const [user, nice, system, , , irq, softirq, steal] = line
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number)
  const ticks = user + nice + system + irq + softirq + steal
  return ticks * 10
}

/** A fixed piece of work; returns its milliseconds, about 3. */
function spin() {
  const start = performance.now()
  let value = seed
  for (let step = 0; step < 2e6; step++) {
    value ^= value << 13
    value ^= value >>> 17
    value ^= value << 5
  }
  // Kept, so that the loop is not optimised away.
  seed = value
  return performance.now() - start
}

let seed = 123456789

// The first ones are slower.
for (let round = 0; round < 20; round++) spin()
