import { scriptedClient } from '@lamella/testing'
import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import type {
  AgentResponse,
  AgentResponseUpdate,
  ChatResponse,
  Checkpoint,
  FunctionInvocationContext,
  ResponseStream,
  RunOptions,
} from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'

interface Tenant {
  readonly user: string
}

const client = scriptedClient([])
const schema = z.object({ city: z.string() })
type City = { city: string }

describe('the value of a response', () => {
  const options = { responseFormat: { schema } } as const

  it('has the type of the schema of the run', () => {
    const agent = new Agent({ client })

    expectTypeOf(agent.run('Hi', { options })).toEqualTypeOf<Promise<AgentResponse<City>>>()
    expectTypeOf(agent.run('Hi', { options, stream: true })).toEqualTypeOf<
      ResponseStream<AgentResponseUpdate, AgentResponse<City>>
    >()
    expectTypeOf(agent.run('Hi', { options: { temperature: 0 } })).toEqualTypeOf<
      Promise<AgentResponse>
    >()
  })

  it('has the type of the schema of the agent, unless the run has its own', () => {
    const agent = new Agent({ client, options })
    const own = { responseFormat: { schema: z.array(z.number()) } }

    expectTypeOf(agent.run('Hi')).toEqualTypeOf<Promise<AgentResponse<City>>>()
    const response = agent.run('Hi', { options: own })
    expectTypeOf(response).toEqualTypeOf<Promise<AgentResponse<number[]>>>()
  })

  it('has the type of the schema of a single model call', () => {
    expectTypeOf(client.getResponse('Hi', options)).toEqualTypeOf<Promise<ChatResponse<City>>>()
    expectTypeOf(client.getResponse('Hi')).toEqualTypeOf<Promise<ChatResponse>>()
  })

  it('has the type that a JSON Schema is given', () => {
    const plain = { responseFormat: { schema: jsonSchema<City>({ type: 'object' }) } }

    expectTypeOf(new Agent({ client }).run('Hi', { options: plain })).toEqualTypeOf<
      Promise<AgentResponse<City>>
    >()
  })

  it('does not keep an agent from where any agent fits', () => {
    expectTypeOf(new Agent({ client, options })).toExtend<Agent>()
  })
})

describe('a run', () => {
  const agent = new Agent({ client })
  type Whole = Promise<AgentResponse>
  type Streamed = ResponseStream<AgentResponseUpdate, AgentResponse>

  it('is a stream for `stream: true` alone', () => {
    const given: RunOptions = {}
    const flag = {} as { stream: boolean }

    expectTypeOf(agent.run('Hi')).toEqualTypeOf<Whole>()
    expectTypeOf(agent.run('Hi', given)).toEqualTypeOf<Whole>()
    expectTypeOf(agent.run('Hi', { stream: undefined })).toEqualTypeOf<Whole>()
    expectTypeOf(agent.run('Hi', { stream: false })).toEqualTypeOf<Whole>()
    expectTypeOf(agent.run('Hi', { ...given, stream: true })).toEqualTypeOf<Streamed>()
    expectTypeOf(agent.run('Hi', flag)).toEqualTypeOf<Whole | Streamed>()
  })

  it('is continued as it is started', () => {
    const paused = {} as Checkpoint

    expectTypeOf(agent.resume(paused, {})).toEqualTypeOf<Whole>()
    expectTypeOf(agent.resume(paused, {}, { stream: true })).toEqualTypeOf<Streamed>()
  })

  it('fits where somebody needs its plain form', () => {
    expectTypeOf(agent).toExtend<{ run(input: string, options?: RunOptions): Whole }>()
  })
})

describe('the data of a run', () => {
  it('has the type of the agent', () => {
    const agent = new Agent<Tenant>({ client })

    agent.run('Hi', { data: { user: 'ada' } }).catch(() => {})
    // @ts-expect-error the agent’s runs have other data
    agent.run('Hi', { data: { user: 1 } }).catch(() => {})
    expectTypeOf(agent).toExtend<Agent>()
  })

  it('has the type that a middleware or a tool names', () => {
    agentMiddleware<Tenant>('a', (context, callNext) => {
      expectTypeOf(context.run.data).toEqualTypeOf<Tenant>()
      return callNext()
    })
    chatMiddleware<Tenant>('c', (context, callNext) => {
      expectTypeOf(context.run.data.user).toEqualTypeOf<string>()
      return callNext()
    })
    functionMiddleware<Tenant>('f', (context, callNext) => {
      expectTypeOf(context.data).toEqualTypeOf<Tenant>()
      return callNext()
    })
    tool({
      name: 'a',
      description: '',
      parameters: schema,
      execute({ city }, context: FunctionInvocationContext<Tenant>) {
        expectTypeOf(city).toEqualTypeOf<string>()
        return context.data.user
      },
    })
  })

  it('is unknown where nobody says more', () => {
    agentMiddleware('a', (context, callNext) => {
      expectTypeOf(context.run.data).toEqualTypeOf<unknown>()
      return callNext()
    })
  })
})
