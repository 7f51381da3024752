import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AgentContext, ChatContext, Middleware } from '../index.ts'
import {
  Agent,
  GuardrailTripped,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tee,
  tool,
} from '../index.ts'

type Break = 'fail' | 'terminate' | 'end with' | 'block'
type Place = 'none' | 'before' | 'after' | 'start' | 'transform' | 'flush'

interface Behavior {
  readonly level: 'agent' | 'chat' | 'function'
  readonly place: Place
  readonly breaks: Break
  /** At which of the times that it gets there. */
  readonly at: number
  readonly retries: boolean
}

interface Scenario {
  readonly middlewares: readonly Behavior[]
  readonly steps: readonly ('text' | 'call' | 'cut' | 'refused' | 'hang')[]
  readonly tool: 'result' | 'failure' | 'hang'
  readonly hooks: 'fine' | 'cleanup fails' | 'result fails' | 'transform fails'
  readonly ending: 'read' | 'final' | 'break' | 'cancel' | 'abort' | 'text' | 'tee' | 'derive'
  /** The point of the run (an update, a middleware, a transform, a tool) at which it ends early. */
  readonly point: number
}

const broken: Readonly<Record<Break, () => Error>> = {
  fail: () => new Error('broken'),
  terminate: () => new MiddlewareTermination('enough'),
  'end with': () => new MiddlewareTermination('enough', { result: 'ended' }),
  block: () =>
    new GuardrailTripped({
      guardrail: 'g',
      level: 'chat',
      stage: 'output',
      category: 'c',
      message: 'blocked',
    }),
}

/** A signal that knows who listens. */
function countedSignal() {
  const controller = new AbortController()
  const { signal } = controller
  const listening = new Set<unknown>()
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening.add(args[1])
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening.delete(args[1])
    remove(...args)
  }
  return { controller, signal, listening }
}

class World {
  readonly caller = countedSignal()
  readonly counts = { entered: 0, left: 0, cleanups: 0, results: 0 }
  readonly reason = new Error('the caller has had enough')
  readonly scenario: Scenario
  onPoint: () => void = () => {}
  #points = 0

  constructor(scenario: Scenario) {
    this.scenario = scenario
  }

  /** Something happens; at the scenario's point the run is ended from outside. */
  reach(isLast = false): void {
    const { point } = this.scenario
    if (this.#points++ === point || (isLast && this.#points <= point)) this.onPoint()
  }

  agent() {
    const { steps, middlewares, tool: outcome, ending } = this.scenario
    const mayHang = ending === 'abort' || ending === 'cancel'
    const client = scriptedClient(
      ({ index }): Exclude<ScriptedStep, (...args: never[]) => unknown> => {
        this.reach()
        switch (steps[index]) {
          case 'call':
            return ['some', callFunction('look'), callFunction('look')]
          case 'cut':
            return { updates: ['some ', 'words'], error: new Error('cut') }
          case 'refused':
            return new Error('refused')
          case 'hang':
            if (mayHang) queueMicrotask(() => this.reach(true))
            return { updates: ['some ', 'words'], hang: mayHang }
          default:
            return 'some words at the end'
        }
      },
    )
    const look = tool({
      name: 'look',
      description: 'Looks.',
      parameters: jsonSchema({ type: 'object' }),
      execute: async (_, { signal }) => {
        this.reach()
        if (outcome === 'failure') throw new Error('no luck')
        if (outcome === 'hang' && mayHang) {
          queueMicrotask(() => this.reach(true))
          await new Promise((_resolve, reject) => {
            const onAbort = (): void => reject(signal.reason as Error)
            if (signal.aborted) onAbort()
            signal.addEventListener('abort', onAbort, { once: true })
          })
        }
        return 'found'
      },
    })
    const middleware = middlewares.map((behavior) => this.#make(behavior))
    return { client, agent: new Agent({ client, tools: [look], middleware }) }
  }

  #make(middleware: Behavior): Middleware {
    const { level, place, breaks, at, retries } = middleware
    let times = 0
    const reach = (here: Place): void => {
      this.reach()
      if (here === place && times++ === at) throw broken[breaks]()
    }
    const process = async (context: unknown, callNext: () => Promise<unknown>): Promise<void> => {
      this.counts.entered++
      try {
        reach('before')
        if (level !== 'function') transform(context as ChatContext, reach)
        try {
          await callNext()
        } catch (error) {
          if (!retries) throw error
          await callNext()
        }
        await Promise.resolve()
        reach('after')
      } finally {
        this.counts.left++
      }
    }
    if (level === 'function') return functionMiddleware('middleware', process)
    return level === 'chat'
      ? chatMiddleware('middleware', process)
      : agentMiddleware('middleware', process)
  }
}

function transform(context: ChatContext | AgentContext, reach: (place: Place) => void): void {
  context.transformUpdates({
    start: () => reach('start'),
    async transform(update, controller) {
      await Promise.resolve()
      reach('transform')
      controller.enqueue(update)
    },
    flush: () => reach('flush'),
  })
}

async function read(world: World) {
  const { agent, client } = world.agent()
  const { hooks, ending } = world.scenario
  const { signal, controller, listening } = world.caller
  const { counts, reason } = world
  const stream = agent.run('Hello', { stream: true, signal })
  stream.withCleanupHook(() => {
    counts.cleanups++
    if (hooks === 'cleanup fails') throw new Error('cleanup')
  })
  stream.withResultHook(() => {
    counts.results++
    if (hooks === 'result fails') throw new Error('result')
  })
  if (hooks === 'transform fails') {
    stream.withTransformHook(() => {
      throw new Error('hook')
    })
  }
  let ended: Promise<void> | undefined
  let isBroken = false
  world.onPoint = () => {
    if (ending === 'abort') controller.abort(reason)
    if (ending === 'cancel') ended = stream.cancel(reason)
    isBroken = true
  }
  try {
    if (ending === 'final') await stream.finalResponse()
    else if (ending === 'tee') {
      await Promise.all(tee(stream).map((branch) => branch.finalResponse()))
    } else if (ending === 'derive') {
      await stream
        .flatMap(
          (update) => [update, update],
          (all) => all.length,
        )
        .finalResponse()
    } else {
      for await (const _ of ending === 'text' ? stream.text({ onRestart() {} }) : stream) {
        world.reach()
        if (ending === 'break' && isBroken) break
      }
    }
  } catch {
    // How it ended is in the outcome.
  }
  await ended
  const cleanupsAtEnd = counts.cleanups
  const outcome = await stream.outcome()
  const finals = await Promise.allSettled([stream.finalResponse(), stream.finalResponse()])
  await turn()
  return { outcome, finals, client, listening, cleanupsAtEnd }
}

/** Lets everything that is due happen. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

const scenario = fc.record<Scenario>({
  middlewares: fc.array(
    fc.record<Behavior>({
      level: fc.constantFrom('agent', 'chat', 'function'),
      place: fc.constantFrom('none', 'before', 'after', 'start', 'transform', 'flush'),
      breaks: fc.constantFrom('fail', 'terminate', 'end with', 'block'),
      at: fc.nat({ max: 3 }),
      retries: fc.boolean(),
    }),
    { maxLength: 4 },
  ),
  steps: fc.array(fc.constantFrom('text', 'call', 'call', 'cut', 'refused', 'hang'), {
    maxLength: 4,
  }),
  tool: fc.constantFrom('result', 'failure', 'hang'),
  hooks: fc.constantFrom('fine', 'fine', 'cleanup fails', 'result fails', 'transform fails'),
  ending: fc.constantFrom('read', 'final', 'break', 'cancel', 'abort', 'text', 'tee', 'derive'),
  point: fc.nat({ max: 40 }),
})

const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)

beforeAll(() => {
  process.on('unhandledRejection', onUnhandled)
})

afterAll(() => {
  process.off('unhandledRejection', onUnhandled)
})

it('a stream settles once, cleans up once and leaves nothing behind, however it ends', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const world = new World(given)

      const { outcome, finals, client, listening, cleanupsAtEnd } = await read(world)

      const settled =
        outcome.status === 'done'
          ? { status: 'fulfilled', value: outcome.response }
          : { status: 'rejected', reason: outcome.error }
      const isEndedEarly = given.ending === 'abort' || given.ending === 'cancel'
      const isByReason = outcome.status !== 'done' && outcome.error === world.reason
      expect(finals).toEqual([settled, settled])
      expect(isEndedEarly && outcome.status === 'aborted').toBe(isEndedEarly && isByReason)
      expect([cleanupsAtEnd, world.counts.cleanups]).toEqual([1, 1])
      expect(world.counts.results).toBeLessThanOrEqual(1)
      expect(world.counts.left).toBe(world.counts.entered)
      expect(client.openStreams).toBe(0)
      expect(listening.size).toBe(0)
      expect(unhandled).toEqual([])
    }),
    { numRuns: 400 },
  )
})

it('a plain run settles and leaves nothing behind, however it ends', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const ending = given.ending === 'abort' || given.ending === 'cancel' ? 'abort' : 'read'
      const world = new World({ ...given, ending })
      const { controller, signal, listening } = world.caller
      world.onPoint = () => ending === 'abort' && controller.abort(world.reason)
      const { agent } = world.agent()

      const [settled] = await Promise.allSettled([agent.run('Hello', { signal })])
      await turn()

      const isAborted = settled.status === 'rejected' && settled.reason === world.reason
      expect(isAborted || !signal.aborted || settled.status === 'rejected').toBe(true)
      expect(world.counts.left).toBe(world.counts.entered)
      expect(listening.size).toBe(0)
      expect(unhandled).toEqual([])
    }),
    { numRuns: 400 },
  )
})
