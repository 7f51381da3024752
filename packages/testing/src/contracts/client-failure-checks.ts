import type { ChatRequest, ChatResponseUpdate, ProviderErrorKind } from '@lamella/core'
import { isProviderError } from '@lamella/core'
import type { ClientCheck } from './client-check.ts'
import { hasText, request, say } from './client-check.ts'
import { collect } from '../scripted/client-request.ts'
import type { ClientHarness } from './client-scenario.ts'
import {
  demand,
  demandSame,
  nextTask,
  rejectionOf,
  untilHolds,
  within,
} from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'

/** Checks how a client handles aborts and failures. */
export function clientFailureChecks(
  check: ClientCheck,
  promptMs: number,
): readonly ContractCheck[] {
  return [
    check('rejects a call that is already aborted', stall, async (client) => {
      const reason = new Error('aborted before')
      const signal = AbortSignal.abort(reason)

      await demandAbort(promptMs, client.respond(request(signal)), reason, 'an aborted call')
      await demandAbort(
        promptMs,
        collect(client.stream(request(signal))),
        reason,
        'an aborted stream',
      )
    }),

    check('settles at once when a call is aborted', stall, async (client, harness) => {
      const controller = new AbortController()
      const reason = new Error('aborted meanwhile')

      const waiting = client.respond(request(controller.signal))
      waiting.catch(() => {})
      await nextTask()
      controller.abort(reason)

      await demandAbort(promptMs, waiting, reason, 'the call')
      await demandClosed(harness, promptMs)
    }),

    check('settles at once when a stream is aborted', stall, async (client, harness) => {
      const controller = new AbortController()
      const reason = new Error('aborted meanwhile')
      const iterator = client.stream(request(controller.signal))[Symbol.asyncIterator]()

      await within(4 * promptMs, readUntilText(iterator), 'the first text of a stream')
      const waiting = readToEnd(iterator)
      waiting.catch(() => {})
      await nextTask()
      controller.abort(reason)

      await demandAbort(promptMs, waiting, reason, 'the stream')
      await demandClosed(harness, promptMs)
    }),

    check('closes the exchange when the reader leaves', stall, async (client, harness) => {
      const iterator = client.stream(request())[Symbol.asyncIterator]()
      await within(4 * promptMs, readUntilText(iterator), 'the first text of a stream')

      demand(iterator.return !== undefined, 'the iterator of a stream must have `return()`')
      await within(promptMs, iterator.return(), '`return()`')
      const { done } = await within(promptMs, iterator.next(), '`next()` after `return()`')

      demand(done === true, 'after `return()` there must be nothing more to read')
      await demandClosed(harness, promptMs)
    }),

    ...failures.map(([status, kinds, retryable]) =>
      check(
        `maps status ${status} to a ProviderError`,
        { kind: 'status', status },
        async (client) => {
          const calls = [
            () => client.respond(withoutRetries(request())),
            () => collect(client.stream(withoutRetries(request()))),
          ]
          for (const start of calls) {
            const error = await rejectionOf(start(), `a call with status ${status}`)
            demand(
              isProviderError(error),
              `it must fail with a ProviderError, got ${String(error)}`,
            )
            demand(
              kinds.includes(error.kind),
              `\`kind\` must be ${kinds.join(' or ')}, got ${error.kind}`,
            )
            demandSame(error.retry.retryable, retryable, '`retry.retryable`')
            demandSame(error.provider, client.provider, '`provider` of the error')
            demandSame(error.status, status, '`status` of the error')
          }
        },
      ),
    ),

    check('reports the wait that the provider requests', slowDown, async (client) => {
      const error = await rejectionOf(
        client.respond(withoutRetries(request())),
        'a call with status 429',
      )

      demand(isProviderError(error), `it must fail with a ProviderError, got ${String(error)}`)
      demandSame(error.retry.afterMs, 7000, '`retry.afterMs`')
    }),

    ...(['cut', 'ended-early'] as const).map((kind) =>
      check(
        `fails if a stream is ${kind === 'cut' ? 'cut' : 'ended early'}`,
        { kind, text: say.text },
        async (client) => {
          const stream = client.getResponse('Hello', { stream: true, transportRetries: 0 })
          const outcome = await stream.outcome()

          demand(outcome.status === 'failed', `the stream must fail, and is ${outcome.status}`)
          const { error, partial } = outcome
          demand(isProviderError(error), `it must fail with a ProviderError, got ${String(error)}`)
          const kinds = kind === 'cut' ? ['truncated_stream', 'network'] : ['truncated_stream']
          demand(
            kinds.includes(error.kind),
            `\`kind\` must be ${kinds.join(' or ')}, got ${error.kind}`,
          )
          const text = partial?.text ?? ''
          demand(
            text !== '' && say.text.startsWith(text),
            'the partial answer must have the text received so far',
          )
        },
      ),
    ),
  ]
}

const stall = { kind: 'stalled', text: say.text } as const
const slowDown = { kind: 'status', status: 429, retryAfterSeconds: 7 } as const
const failures: readonly (readonly [
  status: 400 | 401 | 404 | 429 | 500 | 503,
  kinds: readonly ProviderErrorKind[],
  retryable: boolean,
])[] = [
  [400, ['invalid_request'], false],
  [401, ['auth'], false],
  [404, ['not_found'], false],
  [429, ['rate_limit'], true],
  [500, ['server'], true],
  [503, ['overloaded', 'server'], true],
]

function withoutRetries(of: ChatRequest): ChatRequest {
  return { ...of, options: { ...of.options, transportRetries: 0 } }
}

async function readUntilText(iterator: AsyncIterator<ChatResponseUpdate>): Promise<void> {
  for (;;) {
    const step = await iterator.next()
    demand(step.done !== true, 'a stream that stalls must not end')
    if (hasText(step.value)) return
  }
}

async function readToEnd(iterator: AsyncIterator<ChatResponseUpdate>): Promise<void> {
  while ((await iterator.next()).done !== true);
}

async function demandAbort(
  ms: number,
  work: Promise<unknown>,
  reason: unknown,
  what: string,
): Promise<void> {
  const error = await within(ms, rejectionOf(work, what), what)
  demand(error === reason, `${what} must reject with the signal's reason, got ${String(error)}`)
}

async function demandClosed(harness: ClientHarness, ms: number): Promise<void> {
  const open = (): number => harness.openExchanges?.() ?? 0
  await untilHolds(ms, () => open() === 0)
  demandSame(open(), 0, 'the number of open exchanges')
}
