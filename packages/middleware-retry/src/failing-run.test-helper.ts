import type { Agent, AgentResponseUpdate, RunOptions } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import type { TestClock } from '@lamella/testing'

type ProviderErrorOptions = ConstructorParameters<typeof ProviderError>[1]

/** Reads a streamed run, and keeps what came also where it fails. */
export async function readUpdates(agent: Agent, options: RunOptions = {}) {
  const stream = agent.run('Hello', { ...options, stream: true })
  const updates: AgentResponseUpdate[] = []
  try {
    for await (const update of stream) updates.push(update)
    return { updates, response: await stream.finalResponse(), error: undefined }
  } catch (error) {
    return { updates, response: undefined, error }
  }
}

/** Lets the time of a clock pass until the work has settled. */
export async function withTime<T>(clock: TestClock, work: Promise<T>, stepMs = 500): Promise<T> {
  const state = { isSettled: false }
  const done = work.finally(() => (state.isSettled = true))
  done.catch(() => {})
  while (!state.isSettled) await clock.advance(stepMs)
  return done
}

/** Error of a provider. */
export function failure(
  kind: ProviderErrorOptions['kind'],
  more: Omit<ProviderErrorOptions, 'kind' | 'provider'> = {},
): ProviderError {
  return new ProviderError(`failed: ${kind}`, { kind, provider: 'scripted', ...more })
}

/** The text of updates, one entry for each that has some. */
export function textsOf(updates: readonly AgentResponseUpdate[]): readonly string[] {
  return updates.flatMap(({ contents }) =>
    contents.flatMap((content) => (content.type === 'text' ? [content.text] : [])),
  )
}
