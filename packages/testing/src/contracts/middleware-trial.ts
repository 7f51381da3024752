import type { Middleware, MiddlewareInput, RunContext } from '@lamella/core'
import type { MiddlewareRun } from '../scripted/run-middleware.ts'
import {
  runAgentMiddleware,
  runChatMiddleware,
  runFunctionMiddleware,
} from '../scripted/run-middleware.ts'
import { nextTask } from './contract-assertions.ts'
import type { TestClock } from '../base/test-clock.ts'

export type Level = Middleware['level']

/** Inner behavior of the middleware under test. */
export type Inside = (
  context: { readonly run: RunContext; readonly signal: AbortSignal },
  callNext: () => Promise<unknown>,
) => Promise<unknown>

export interface TrialOptions {
  /**
   * Inner behavior.
   * @default it continues to the model or the tool
   */
  readonly inside?: Inside | undefined
  readonly input?: string | undefined
  /** Reply of the model or the tool. */
  readonly reply?: string | undefined
  readonly stream?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** One run with a middleware between two middleware objects that observe it. */
export interface Trial {
  /** Outcome of the trial. Never rejects. */
  readonly run: Promise<MiddlewareRun<unknown, unknown>>
  readonly settled: boolean
  /** Number of inner calls. */
  readonly innerCount: number
  /** True if every call of the middleware has ended. */
  readonly idle: boolean
}

/** Starts a run with the middleware at one of its levels. */
export function startTrial(
  level: Level,
  middleware: MiddlewareInput,
  options: TrialOptions = {},
): Trial {
  const { inside, input, reply = 'The quick brown fox.', stream, signal } = options
  let innerCount = 0
  let open = 0
  const outside = middlewareAt(level, 'testing-outside', async (_, callNext) => {
    open++
    try {
      await callNext()
    } finally {
      open--
    }
  })
  const within = middlewareAt(level, 'testing-inside', async (context, callNext) => {
    innerCount++
    return inside === undefined ? callNext() : inside(context, callNext)
  })
  const middlewares: MiddlewareInput = [outside, middleware, within]
  const given = { input, stream, signal }
  const run =
    level === 'function'
      ? runFunctionMiddleware(middlewares, {
          ...given,
          arguments: { text: input },
          execute: () => reply,
        })
      : (level === 'chat' ? runChatMiddleware : runAgentMiddleware)(middlewares, {
          ...given,
          replies: () => reply,
          chunk: 4,
        })
  let settled = false
  void run.then(() => (settled = true))
  return {
    run,
    get settled() {
      return settled
    },
    get innerCount() {
      return innerCount
    },
    get idle() {
      return open === 0
    },
  }
}

/** The levels at which a middleware, or a list of them, has parts. */
export function levelsOf(middleware: MiddlewareInput): ReadonlySet<Level> {
  return new Set(partsOf(middleware).map(({ level }) => level))
}

/** Returns the middleware of a nested list. */
export function partsOf(middleware: MiddlewareInput): readonly Middleware[] {
  return Array.isArray(middleware)
    ? (middleware as readonly MiddlewareInput[]).flatMap(partsOf)
    : [middleware as Middleware]
}

/** Advances a test clock until the work has settled, so that waits of middleware end. */
export async function withTime<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let settled = false
  const done = work.finally(() => (settled = true))
  done.catch(() => {})
  for (let turn = 0, ms = 1; turn < 200; turn++) {
    await nextTask()
    if (settled) break
    if (clock.sleeping === 0) continue
    await clock.advance(ms)
    ms = Math.min(ms * 2, 3_600_000)
  }
  return done
}

function middlewareAt(level: Level, name: string, process: Inside): Middleware {
  return { level, name, process } as Middleware
}
