import type { Content } from './content.ts'
import { errorResult } from './function-result.ts'
import { matchResults } from './match-results.ts'
import type { Message } from './message.ts'

/**
 * Rounds of `said` in which a call had an effect, by the position of the call: calls, their results and the
 * reasoning that providers want back with them, and what was asked meanwhile. Results of calls from before `said`
 * stay, other content does not.
 */
export function effectRounds(
  said: readonly Message[],
  isEffect: (address: string) => boolean,
): readonly Message[] {
  const { results, strays } = matchResults(said)
  const kept = new Set(strays)
  for (const { id, contents } of said) {
    if (!contents.some((part, at) => part.type === 'function-call' && isEffect(`${id}:${at}`)))
      continue
    for (const part of contents) {
      if (part.type === 'reasoning') kept.add(part)
      if (part.type !== 'function-call') continue
      const found = results.get(part)?.filter((result) => result !== undefined) ?? []
      if (found.length > 0 || part.informational === true) kept.add(part)
      for (const result of found) kept.add(result)
    }
  }
  return said.flatMap((entry): Message | readonly never[] => {
    if (isAsked(entry)) return kept.size > 0 ? entry : []
    const contents = entry.contents.filter((part: Content) => kept.has(part))
    if (contents.length === entry.contents.length) return entry
    return contents.length === 0 ? [] : { ...entry, contents }
  })
}

/**
 * Rounds of a run that a guardrail has blocked, without content that it may have blocked: what was asked meanwhile,
 * reasoning, arguments of
 * calls without a result of their own, and all arguments and results where it judged the whole run or what the
 * model was about to read.
 */
export function withoutBlocked(
  rounds: readonly Message[],
  { level, stage }: { readonly level: string; readonly stage: string },
): readonly Message[] {
  const { results } = matchResults(rounds)
  const isAll = level === 'agent' || stage === 'input'
  const sealed = (part: Content): Content | readonly never[] => {
    if (part.type === 'reasoning') return []
    if (part.type === 'function-result' && isAll) {
      return { ...part, ...errorResult('withheld', 'the run was blocked') }
    }
    if (part.type !== 'function-call') return part
    const hasResult = results.get(part)?.some((result) => result?.error === undefined) === true
    return hasResult && !isAll ? part : { ...part, arguments: '{}', providerData: undefined }
  }
  const said = rounds.filter((entry) => !isAsked(entry))
  return said.map((entry) => ({ ...entry, contents: entry.contents.flatMap(sealed) }))
}

/** Returns true for input that has joined a run after it had begun. */
function isAsked({ role }: Message): boolean {
  return role === 'user' || role === 'system'
}
