import { canonicalJson } from '@lamella/core/authoring'

/** Calls of a circle that is found. */
const longestCircle = 4

/** How a call is told from others: its tool, and its arguments in any order of keys. */
export function signatureOf(name: string, args: Readonly<Record<string, unknown>>): string {
  try {
    return `${name} ${canonicalJson(args)}`
  } catch {
    // What JSON cannot hold is like no other call.
    return crypto.randomUUID()
  }
}

/**
 * Whether the last of `calls` is one too many: with it, the same call, or the same circle of calls,
 * has come more than `limit` times in a row.
 */
export function isRepeated(calls: readonly string[], limit: number): boolean {
  for (let circle = 1; circle <= longestCircle; circle++) {
    const needed = circle * limit + 1
    if (calls.length < needed) return false
    const from = calls.length - needed
    let isSame = true
    for (let at = from; isSame && at + circle < calls.length; at++) {
      isSame = calls[at] === calls[at + circle]
    }
    if (isSame) return true
  }
  return false
}

/** As many calls as `isRepeated` looks at. */
export function lastCalls(calls: readonly string[], limit: number): readonly string[] {
  return calls.slice(-(longestCircle * limit + 1))
}
