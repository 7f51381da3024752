import type { AgentResponse, Message } from '@lamella/core'
import { LamellaError, outcomeOf } from '@lamella/core'
import type { RunOutcome } from './run-record.ts'

/** End of the job: finished, or tried again. */
export interface Verdict {
  readonly outcome: RunOutcome
  readonly isRetried: boolean
}

/** Makes the outcome of a response. `before` is the text of the run before it was cut off. */
export function outcomeOfResponse(response: AgentResponse, before: readonly Message[]): Verdict {
  const { runId, status, text, usage, pending, value, reason, block } = response
  const messages = [...before, ...response.messages]
  const rest = {
    runId,
    usage,
    pending,
    ...(value !== undefined && { value }),
    ...(reason !== undefined && { reason }),
  }
  if (status === 'blocked') {
    return final({
      ...rest,
      event: 'run.failed',
      status: 'guardrail_tripped',
      text: `Request blocked: ${text}`,
      messages: [],
      block,
    })
  }
  const whole = [...before.map(textOfMessage), text].join('')
  const event =
    status === 'paused'
      ? 'run.paused'
      : status === 'budget_exhausted'
        ? 'run.failed'
        : 'run.completed'
  return final({ ...rest, event, status, text: whole, messages })
}

/** Makes the outcome of an error. A guardrail that throws is no crash. */
export function outcomeOfError(error: unknown, runId: string): Verdict {
  const { usage = {}, messages = [] } = outcomeOf(error) ?? {}
  const rest = { runId, event: 'run.failed', usage, pending: [] } as const
  if (LamellaError.is(error, 'guardrail_tripped')) {
    const { block } = error as unknown as { readonly block: RunOutcome['block'] }
    const text = `Request blocked: ${block?.message ?? ''}`
    return final({ ...rest, status: 'guardrail_tripped', text, messages: [], block })
  }
  if (LamellaError.is(error, 'budget_exhausted')) {
    return final({ ...rest, status: 'budget_exhausted', text: '', messages })
  }
  return {
    outcome: { ...rest, status: 'agent_crashed', text: '', messages, error: describe(error) },
    isRetried: true,
  }
}

/** Makes the outcome of a canceled run. */
export function cancelledOutcome(
  runId: string,
  response: Pick<AgentResponse, 'messages' | 'usage'> | undefined,
  before: readonly Message[],
): RunOutcome {
  const { messages = [], usage = {} } = response ?? {}
  return {
    runId,
    event: 'run.cancelled',
    status: 'cancelled',
    text: '',
    messages: [...before, ...messages],
    usage,
    pending: [],
  }
}

function final(outcome: RunOutcome): Verdict {
  return { outcome, isRetried: false }
}

function describe(error: unknown): RunOutcome['error'] {
  if (!(error instanceof Error)) return { name: typeof error }
  const { name, message } = error
  return LamellaError.is(error) ? { name, code: error.code, message } : { name }
}

function textOfMessage({ role, contents }: Message): string {
  if (role !== 'assistant') return ''
  return contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
}
