import type { RunEvent } from '@lamella/core'
import { Agent, jsonSchema, tool } from '@lamella/core'
import { testRandom } from '../base/test-random.ts'
import { scriptedClient } from '../scripted/scripted-client.ts'
import { callFunction } from '../scripted/scripted-step.ts'
import { demandSame } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import type { MiddlewareSubject } from './middleware-subject.ts'
import { withTime } from './middleware-trial.ts'

/** Checks that a middleware takes time, random numbers and ids from `run.clock`, `run.random` and `run.ids`. */
export function middlewareTimeCheck(make: () => MiddlewareSubject, text: string): ContractCheck {
  return {
    name: 'takes time, random numbers and ids from the run, so that a run can be repeated',
    run: async () => {
      const first = await runTold(make(), text)
      const second = await inAnotherTime(() => runTold(make(), text))
      demandSame(second, first, 'all that runs with the same clock and random numbers tell')
    },
  }
}

/** Responses, events and requests of a run with a tool call, and of another with the same input, as JSON. */
async function runTold({ middleware, clock }: MiddlewareSubject, text: string): Promise<string> {
  const parameters = jsonSchema({ type: 'object', properties: { text: { type: 'string' } } })
  const echo = tool({ name: 'test_tool', description: 'Echoes.', parameters, execute: () => text })
  const round = [callFunction('test_tool', { text }, 'call_1'), text, text, text]
  const client = scriptedClient([...round, ...round])
  const agent = new Agent({ client, tools: [echo], middleware, clock, random: testRandom(2) })
  const events: RunEvent[] = []
  const onEvent = (event: RunEvent): void => void events.push(event)
  const run = (): Promise<unknown> =>
    withTime(
      clock,
      agent.run(text, { onEvent }).catch((error: unknown) => String(error)),
    )
  const responses = [await run(), await run()]
  return JSON.stringify({ responses, events, requests: client.requests })
}

/** Runs `work` while the machine has another time. Its random numbers are others in any case. */
async function inAnotherTime<Value>(work: () => Promise<Value>): Promise<Value> {
  const { Date: MachineDate } = globalThis
  const now = performance.now.bind(performance)
  let calls = 0
  globalThis.Date = class extends MachineDate {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [MachineDate.now() + hourMs] : given) as [number]))
    }
    static override now(): number {
      return MachineDate.now() + hourMs
    }
  } as typeof Date
  performance.now = () => now() + hourMs * ++calls
  try {
    return await work()
  } finally {
    globalThis.Date = MachineDate
    performance.now = now
  }
}

const hourMs = 3_600_000
