import type { MiddlewareInput } from '@lamella/core'
import { Agent, jsonSchema, LamellaError, tool } from '@lamella/core'
import { scriptedClient } from '../scripted/scripted-client.ts'
import { callFunction } from '../scripted/scripted-step.ts'
import { demand, demandSame, nextTask } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'

/** Creates the object under test with each of its time limits at `ms` milliseconds. */
export type CreateWithLimit = (ms: number) => MiddlewareInput

/** Checks that a limit beyond the timers of the platform is long, or is refused where it is given. */
export function timeLimitCheck(create: CreateWithLimit, text: string): ContractCheck {
  return {
    name: 'takes a time limit of more than 25 days as long, or refuses it',
    run: async () => {
      for (const ms of [longestTimerMs + 1, 2 ** 33]) {
        const middleware = madeOrRefused(create, ms)
        // oxlint-disable-next-line no-await-in-loop
        if (middleware !== undefined) await demandLong(middleware, text)
      }
    },
  }
}

// Timers count in 31 bits, and longer ones fire at once.
const longestTimerMs = 2 ** 31 - 1

function madeOrRefused(create: CreateWithLimit, ms: number): MiddlewareInput | undefined {
  try {
    return create(ms)
  } catch (error) {
    const isClear =
      error instanceof RangeError || error instanceof TypeError || LamellaError.is(error)
    demand(isClear, 'a limit that is too long must be refused with a RangeError')
    return undefined
  }
}

async function demandLong(middleware: MiddlewareInput, text: string): Promise<void> {
  const parameters = jsonSchema({ type: 'object', properties: { text: { type: 'string' } } })
  const echo = tool({
    name: 'test_tool',
    description: 'Echoes.',
    parameters,
    execute: async () => {
      await nextTask()
      return text
    },
  })
  const client = scriptedClient(async ({ index }) => {
    await nextTask()
    return index === 0 ? callFunction('test_tool', { text }, 'call_1') : text
  })
  const agent = new Agent({ client, tools: [echo], middleware })
  const watch = watchTimers()
  try {
    for (const stream of [false, true]) {
      const running = stream ? agent.run(text, { stream: true }).finalResponse() : agent.run(text)
      // oxlint-disable-next-line no-await-in-loop
      const { status } = await running.catch((error: unknown) => ({ status: String(error) }))
      demandSame(status, 'completed', 'the status of a run within a long limit')
    }
  } finally {
    watch.end()
  }
  const [tooLong] = watch.tooLong
  demand(
    tooLong === undefined,
    `a timer of ${tooLong} ms fires at once; \`run.clock.sleep\` and \`callLater\` wait as long as you say`,
  )
}

/** Notes each timer of the platform that is longer than it can count. */
function watchTimers(): { readonly tooLong: readonly number[]; end(): void } {
  const tooLong: number[] = []
  const { setTimeout: start } = globalThis
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const note = (ms: unknown): void => void (Number(ms) > longestTimerMs && tooLong.push(Number(ms)))
  globalThis.setTimeout = new Proxy(start, {
    apply(target, self, given: Parameters<typeof start>) {
      note(given[1])
      return Reflect.apply(target, self, given)
    },
  })
  AbortSignal.timeout = (ms) => {
    note(ms)
    return timeout(ms)
  }
  return {
    tooLong,
    end: () => {
      globalThis.setTimeout = start
      AbortSignal.timeout = timeout
    },
  }
}
