// Figures that may only get better. A release lowers them, and a decision record may move them either way, so that no
// change moves the figures it is judged by.
// usage of the scripts with a baseline: [--release | --decision=docs/decisions/<number>-<title>.md]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Returns the figures of a file by name, numbers in objects of any depth. */
export function readBaseline(file) {
  return JSON.parse(readFileSync(file, 'utf8')).figures
}

/** Tells whether the command line moves the baseline. */
export function isMoving() {
  return process.argv.includes('--release') || decisionOf() !== undefined
}

/**
 * Writes the figures if the command line says who moves them. A release keeps those that have grown within their
 * band, or else they would creep.
 */
export function moveBaseline(file, figures) {
  const decision = decisionOf()
  const isRelease = process.argv.includes('--release')
  if (!isRelease && decision === undefined) return
  if (decision !== undefined && !existsSync(decision)) {
    console.error(`--decision=${decision}: there is no such record`)
    process.exit(1)
  }
  const before = existsSync(file) ? readBaseline(file) : {}
  const moved = decision === undefined ? lower(before, figures) : figures
  const movedBy = decision ?? 'a release'
  writeFileSync(file, `${JSON.stringify({ movedBy, figures: moved }, null, 2)}\n`)
}

/** Returns the lower of each two figures. A new name comes as it is, and a name that is gone goes. */
function lower(before, now) {
  if (typeof now === 'number') return Math.min(now, before ?? Infinity)
  return Object.fromEntries(
    Object.entries(now).map(([name, value]) => [name, lower(before?.[name], value)]),
  )
}

function decisionOf() {
  return process.argv.find((flag) => flag.startsWith('--decision='))?.slice('--decision='.length)
}
