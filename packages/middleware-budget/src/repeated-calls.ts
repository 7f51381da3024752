import { canonicalJson } from '@lamella/core/authoring'

/** Longest cycle of calls that is detected. */
const longestCircle = 4

/** Returns a text that identifies a call: its tool, and its arguments in canonical order. */
export function signatureOf(name: string, args: Readonly<Record<string, unknown>>): string {
  try {
    return `${name} ${canonicalJson(args)}`
  } catch {
    // A value without JSON equals no other call.
    return crypto.randomUUID()
  }
}

/**
 * Tells whether the last of `calls` is one too many: it repeats the same call, or the same cycle of
 * calls, more than `limit` times in a row.
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

/** Keeps as many calls as `isRepeated` reads. */
export function lastCalls(calls: readonly string[], limit: number): readonly string[] {
  return calls.slice(-(longestCircle * limit + 1))
}
