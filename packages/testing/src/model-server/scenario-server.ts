import type { ClientScenario } from '../contracts/client-scenario.ts'
import type { ModelServerFailure } from './model-server-failure.ts'
import type { ModelServerRequest } from './model-server-request.ts'
import type { ModelServerOptions } from './model-server-options.ts'

/** Options with which the model server plays a scenario of the chat client contract. */
export function scenarioServer(scenario: ClientScenario): ModelServerOptions {
  const usage = { inputTokens: 12, outputTokens: 8 }
  switch (scenario.kind) {
    case 'text':
      return { chunkChars: 5, answer: () => ({ text: scenario.text, usage }) }
    case 'calls':
      return { chunkChars: 5, answer: () => ({ calls: scenario.calls, usage }) }
    case 'status': {
      const { status, retryAfterSeconds } = scenario
      const headers: Record<string, string> = {}
      if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
      return { failures: () => ({ status, headers }) }
    }
    default:
      return {
        chunkChars: 5,
        answer: () => ({ text: scenario.text, usage }),
        failures: (request) => breakAfterText(scenario.kind, request),
      }
  }
}

function breakAfterText(
  kind: 'cut' | 'ended-early' | 'stalled',
  { path }: ModelServerRequest,
): ModelServerFailure {
  // Before the first piece of text, Chat Completions sends one event, and Responses four.
  const events = path.includes('/responses') ? 6 : 3
  if (kind === 'cut') return { cutAfterEvents: events }
  return kind === 'stalled' ? { stallAfterEvents: events } : { endAfterEvents: events }
}
