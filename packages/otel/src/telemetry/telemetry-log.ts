import type { Channel } from 'node:diagnostics_channel'
import type { OperationEnd, OperationStart } from './operation.ts'
import type { TelemetryMessage } from './telemetry-message.ts'

/** Output besides OpenTelemetry: lines for people, messages for other code. */
export class TelemetryLog {
  readonly #channel: Channel | undefined
  readonly #log: ((line: string) => void) | undefined

  constructor(channel: string | false, log: ((line: string) => void) | undefined) {
    this.#log = log
    const { process } = globalThis as { process?: Partial<NodeJS.Process> }
    const diagnostics = channel && process?.getBuiltinModule?.('node:diagnostics_channel')
    this.#channel = diagnostics ? diagnostics.channel(channel) : undefined
  }

  get isOff(): boolean {
    return this.#log === undefined && this.#channel?.hasSubscribers !== true
  }

  tell(message: TelemetryMessage): void {
    if (this.#channel?.hasSubscribers === true) this.#channel.publish(message)
    if (message.phase !== 'event') this.#log?.(lineOf(message))
  }
}

/** The line for something that starts or ends. */
function lineOf(message: TelemetryMessage): string {
  const { operation, subject, phase, runId, sessionId, messages, tokens, status } = message
  const elapsed = message.elapsedMs === undefined ? undefined : Math.round(message.elapsedMs)
  const facts = { run: runId, session: sessionId, messages, tokens, status, elapsedMs: elapsed }
  const known = Object.entries(facts).filter(([, value]) => value !== undefined)
  const words = ['lamella', operation, subject, phase].filter((word) => word !== undefined)
  return [...words, ...known.map(([name, value]) => `${name}=${value}`)]
    .map((word) => (/\s/.test(word) ? JSON.stringify(word) : word))
    .join(' ')
}

/** Facts of an operation in any phase. */
export function messageOf(
  { operation, subject, run, messages }: OperationStart,
  phase: TelemetryMessage['phase'],
  end?: OperationEnd & { readonly elapsedMs: number },
): TelemetryMessage {
  const { id: runId, agentName, session } = run
  const started = { phase, operation, subject, runId, agentName, sessionId: session?.id, messages }
  if (end === undefined) return started
  const { usage, status, elapsedMs } = end
  return { ...started, tokens: usage && tokensOf(usage), status, elapsedMs }
}

function tokensOf({ totalTokens, inputTokens, outputTokens }: NonNullable<OperationEnd['usage']>) {
  if (totalTokens !== undefined) return totalTokens
  return inputTokens === undefined && outputTokens === undefined
    ? undefined
    : (inputTokens ?? 0) + (outputTokens ?? 0)
}
