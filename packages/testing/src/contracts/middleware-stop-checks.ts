import { GuardrailTripped, MiddlewareTermination, ProviderError } from '@lamella/core'
import { abortable, untilAborted } from '../base/abortable.ts'
import { demand, demandSame, nextTask, untilHolds, within } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import type { MiddlewareSubject } from './middleware-subject.ts'
import type { Inside, Level, Trial, TrialOptions } from './middleware-trial.ts'
import { startTrial, withTime } from './middleware-trial.ts'
import { unhandledRejections } from './unhandled-rejections.ts'

/** Checks how a middleware handles intended ends and failures of a run. */
export function middlewareStopChecks(input: {
  readonly make: () => MiddlewareSubject
  readonly levels: readonly Level[]
  readonly neutralText: string
  readonly promptMs: number
}): readonly ContractCheck[] {
  const { make, neutralText, promptMs } = input

  const begin = (level: Level, subject: MiddlewareSubject, options: TrialOptions): Trial =>
    startTrial(level, subject.middleware, { input: neutralText, reply: neutralText, ...options })

  const rethrows = (level: Level, what: string, make_: () => Error): ContractCheck => ({
    name: `${level}: rethrows ${what} without a retry`,
    run: async () => {
      for (const stream of [false, true]) {
        const subject = make()
        const thrown = make_()
        const trial = begin(level, subject, { stream, inside: () => Promise.reject(thrown) })
        const { error } = await withTime(subject.clock, trial.run)

        demand(comesFrom(error, thrown), `it must rethrow ${what}, got ${String(error)}`)
        demandSame(trial.innerCount, 1, 'the number of inner calls')
        demand(trial.idle, 'it must have settled')
      }
    },
  })

  /** Aborts runs at the same time, and demands that they leave nothing behind. */
  const aborts = async (level: Level, stream: boolean, inside: Inside): Promise<void> => {
    const subject = make()
    const controller = new AbortController()
    const reason = new Error('aborted by the contract')
    const { signal } = controller
    const trials = [1, 2, 3].map((index) =>
      begin(level, subject, { stream, signal, inside, input: `${neutralText} ${index}` }),
    )
    for (let turn = 0; turn < 5; turn++) await nextTask()
    const waiting = trials
      .filter(({ settled }) => !settled)
      .map((trial) => ({ trial, innerCount: trial.innerCount }))
    controller.abort(reason)

    for (const { trial, innerCount } of waiting) {
      const { error, response } = await within(promptMs, trial.run, 'an aborted run')
      const left = response === undefined ? error : response.status
      demand(
        left === reason,
        `an aborted run must reject with the signal's reason, got ${String(left)}`,
      )
      await untilIdle(promptMs, trial)
      demandSame(trial.innerCount, innerCount, 'the number of inner calls after the abort')
    }
    demandSame(subject.clock.sleeping, 0, 'the number of waits that the abort did not end')
  }

  return input.levels.flatMap((level): ContractCheck[] => [
    rethrows(level, 'a termination', () => new MiddlewareTermination('ended by the contract')),
    rethrows(level, 'a tripped guardrail', () => new GuardrailTripped(block(level))),
    rethrows(
      level,
      'a failure that is not retryable',
      () =>
        new ProviderError('refused', {
          kind: 'invalid_request',
          provider: 'scripted',
          status: 400,
        }),
    ),

    {
      name: `${level}: lets the run pause`,
      run: async () => {
        const subject = make()
        const trial = begin(level, subject, {
          inside: ({ run }) => run.interrupt({ why: 'contract' }),
        })
        const { response, error } = await withTime(subject.clock, trial.run)

        demandSame(response?.status ?? String(error), 'paused', 'the status of the run')
        demandSame(trial.innerCount, 1, 'the number of inner calls')
      },
    },

    ...[false, true].flatMap((stream): ContractCheck[] => [
      {
        name: `${level}: settles at once when the run is aborted, ${stream ? 'streamed' : 'plain'}`,
        run: () => aborts(level, stream, ({ signal }) => untilAborted(signal)),
      },
      {
        name: `${level}: stops waiting when the run is aborted, ${stream ? 'streamed' : 'plain'}`,
        run: async () => {
          const busy = new ProviderError('slow down', {
            kind: 'rate_limit',
            provider: 'scripted',
            status: 429,
            retry: { afterMs: 60_000 },
          })
          // The first call of each fails, so that a middleware that retries waits.
          const failed = new WeakSet<AbortSignal>()
          await aborts(level, stream, async ({ signal, run }) => {
            if (failed.has(run.signal)) return untilAborted(signal)
            failed.add(run.signal)
            await abortable(nextTask(), signal)
            throw busy
          })
        },
      },
    ]),

    {
      name: `${level}: leaves no rejection unhandled`,
      run: async () => {
        const left = await unhandledRejections(async () => {
          for (const stream of [false, true]) {
            const subject = make()
            const failing = begin(level, subject, {
              stream,
              inside: async () => {
                await nextTask()
                throw new Error('failed by the contract')
              },
            })
            await withTime(subject.clock, failing.run)
          }
        })
        demandSame(left.map(String), [], 'the rejections that nobody handled')
      },
    },
  ])
}

function block(level: Level) {
  return { guardrail: 'contract', level, stage: 'input', category: 'test', message: 'No.' } as const
}

/** Returns true if an error is `origin`, or is caused by it. */
function comesFrom(error: unknown, origin: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) if (at === origin) return true
  return error === origin
}

/** Waits until the middleware has ended. @throws ContractViolation if that takes longer */
async function untilIdle(ms: number, trial: Trial): Promise<void> {
  await untilHolds(ms, () => trial.idle)
  const of = 'the middleware of an aborted run'
  demand(trial.idle, `${of} must settle within ${ms} ms, and has not`)
}
