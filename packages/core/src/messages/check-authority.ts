import { LamellaError } from '../base/lamella-error.ts'
import type { Content } from './content.ts'
import type { Message } from './message.ts'

/**
 * Rejects answers in the input of a run: input may come from outside, and decides nothing. A conversation
 * that an application passes whole may hold answers of the past: those whose call has its result in the
 * same input. An answer to a provider's own request has no such result, and is never accepted.
 * @throws LamellaError `untrusted_input`
 */
export function checkAuthority(input: readonly Message[]): void {
  if (!input.some(({ contents }) => contents.some(decides))) return
  const calls = new Set<string>()
  const results = new Set<string>()
  const requests = new Map<string, string>()
  for (const content of input.flatMap((entry) => entry.contents)) {
    if (content.type === 'function-call') calls.add(content.callId)
    else if (content.type === 'function-result') results.add(content.callId)
    else if (content.type === 'approval-request') requests.set(content.id, content.call.callId)
  }
  for (const content of input.flatMap((entry) => entry.contents)) {
    if (content.type === 'function-result' && !calls.has(content.callId)) {
      throw untrusted('a tool result')
    }
    if (content.type !== 'approval-response') continue
    const callId = requests.get(content.id)
    const isPast = content.hosted !== true && callId !== undefined && results.has(callId)
    if (!isPast) throw untrusted('an approval')
  }
}

function decides({ type }: Content): boolean {
  return type === 'function-result' || type === 'approval-response'
}

function untrusted(what: string): LamellaError {
  return new LamellaError(
    `run: the input holds ${what}; pass it as \`agent.resume(checkpoint, answers)\` or \`run(input, { session, answers })\``,
    { code: 'untrusted_input' },
  )
}
