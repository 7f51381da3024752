import { Session } from 'node:inspector/promises'
import { searchSteps } from './regexp-steps.ts'

const ours =
  /\/packages\/(?!.*\/node_modules\/)(?!.*\.test\.ts$)|\/node_modules\/(?!.*\b(?:vite|vitest|regexpp)\b)/

/** Above this, a regular expression is certainly too slow, and counting more would take minutes. */
const enoughSteps = 100_000_000

let session: Session | undefined

/**
 * Counts what some work does, the same on every machine: blocks of our code entered, steps of regular expressions, and
 * characters that searches of strings pass.
 */
export async function countedWork(work: () => unknown): Promise<number> {
  if (session === undefined) {
    session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }
  await session.post('Profiler.takePreciseCoverage')
  const counter = countNative()
  try {
    await work()
  } finally {
    counter.stop()
  }
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const blocks = result
    .filter(({ url }) => ours.test(url))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((sum, { count }) => sum + count, 0)
  return blocks + counter.steps()
}

// The functions of the engine are called with the `this` of each call.
// oxlint-disable typescript/unbound-method, no-extend-native
/** Counts what the engine does until it is stopped. */
function countNative(): { stop(): void; steps(): number } {
  let steps = 0
  const { exec } = RegExp.prototype
  RegExp.prototype.exec = function counted(this: RegExp, text: unknown) {
    const value = String(text)
    const from = this.global || this.sticky ? this.lastIndex : 0
    const match = exec.call(this, value)
    if (from > value.length || steps > enoughSteps) return match
    RegExp.prototype.exec = exec
    try {
      const [end, taken] = searchSteps(this, value, from)
      const expected = match === null ? -1 : match.index + match[0].length
      if (end !== expected)
        throw new Error(
          `${String(this)} ends at ${expected}, counted ${end}, in ${value.slice(0, 80)}`,
        )
      steps += taken
    } finally {
      RegExp.prototype.exec = counted
    }
    return match
  }
  const text = String.prototype
  const { indexOf, includes, lastIndexOf } = text
  text.indexOf = function counted(this: string, found, from = 0) {
    const at = indexOf.call(this, found, from)
    steps += Math.max(0, (at < 0 ? this.length : at) - from)
    return at
  }
  text.includes = function counted(this: string, found, from = 0) {
    return text.indexOf.call(this, found, from) >= 0
  }
  text.lastIndexOf = function counted(this: string, found, from = Infinity) {
    const at = lastIndexOf.call(this, found, from)
    steps += Math.min(this.length, from) - Math.max(0, at)
    return at
  }
  return {
    steps: () => steps,
    stop: () => {
      RegExp.prototype.exec = exec
      Object.assign(text, { indexOf, includes, lastIndexOf })
    },
  }
}
