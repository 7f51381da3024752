import { ProviderError } from '@lamella/core'
import type { Agent, AgentResponseUpdate } from '@lamella/core'

type ProviderErrorOptions = ConstructorParameters<typeof ProviderError>[1]

/** Reads a streamed run, and keeps what came also where it fails. */
export async function readUpdates(agent: Agent) {
  const stream = agent.run('Hello', { stream: true })
  const updates: AgentResponseUpdate[] = []
  let error: unknown
  try {
    for await (const update of stream) updates.push(update)
  } catch (thrown) {
    error = thrown
  }
  const outcome = await stream.outcome()
  const partial = outcome.status === 'done' ? outcome.response : outcome.partial
  const texts = updates.map(({ contents }) =>
    contents.map((content) => (content.type === 'text' ? content.text : '')).join(''),
  )
  const restart = updates.findIndex((update) => update.restart)
  return { updates, error, partial, texts, restart }
}

/** Error of a provider. */
export function failure(
  kind: ProviderErrorOptions['kind'],
  more: Omit<ProviderErrorOptions, 'kind' | 'provider'> = {},
): ProviderError {
  return new ProviderError(`failed: ${kind}`, { kind, provider: 'scripted', ...more })
}

/** Resolves to the error of a promise. */
export function rejection(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}
