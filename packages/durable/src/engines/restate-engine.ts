import type { PendingRequest } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { Context, Duration } from '@restatedev/restate-sdk'
import type { DurableEngine } from '../steps/durable-engine.ts'
import { RestatePump } from './restate-pump.ts'

/** A request of a paused run, and the awakeable that takes its answer. */
export interface RestateRequest {
  /** The request. */
  readonly request: PendingRequest
  /** Id to resolve with the answer: `ctx.resolveAwakeable(id, answer)`, or a `POST` to the server. */
  readonly awakeableId: string
}

/** Options of `restate`. */
export interface RestateOptions {
  /**
   * Tells a person, or a service, what a paused run waits for. It is a step. The invocation sleeps until each
   * awakeable is resolved.
   * @default none: the run ends as `paused`
   */
  readonly ask?: ((requests: readonly RestateRequest[]) => Promise<void>) | undefined
  /**
   * Tries of a step that fails in a way that is worth a retry.
   * @default 10
   */
  readonly maxAttempts?: number | undefined
  /**
   * Wait before the first retry, in milliseconds or as a duration. It doubles with each retry.
   * @default 1000
   */
  readonly retryInterval?: Duration | number | undefined
}

/**
 * The invocation of a handler of Restate, as an engine for `runDurably`. Make one for an invocation. Other calls of
 * `context` must not be awaited during the run.
 * @throws TypeError or RangeError that names the option and the value
 */
export function restate(context: Context, options: RestateOptions = {}): DurableEngine {
  checkOptions('restate', options, { ask: 'function?', maxAttempts: 1, retryInterval: 'any' })
  const { ask, maxAttempts = 10, retryInterval = 1000 } = options
  const retries = { maxRetryAttempts: maxAttempts, initialRetryInterval: retryInterval }
  const pump = new RestatePump()
  const step: DurableEngine['step'] = (name, work) => pump.settle(context.run(name, work, retries))
  const wait: DurableEngine['wait'] =
    ask &&
    (async (requests) => {
      const open = requests.map((request) => ({ request, ...context.awakeable<unknown>() }))
      await step('ask', () => ask(open.map(({ request, id }) => ({ request, awakeableId: id }))))
      const answers = await Promise.all(
        open.map(async ({ request, promise }) => [request.id, await pump.settle(promise)] as const),
      )
      return Object.fromEntries(answers)
    })
  return {
    id: context.request().id,
    step,
    sleep: (ms) => pump.settle(context.sleep(ms)),
    wait,
  }
}
