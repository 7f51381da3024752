import { describe, expectTypeOf, it } from 'vitest'
import type {
  AgentMiddleware,
  AgentResponse,
  AgentResponseUpdate,
  ChatClient,
  ChatMiddleware,
  ChatResponse,
  ChatResponseUpdate,
  ClientMiddlewareInput,
  FunctionMiddleware,
  FunctionResult,
  Message,
  MiddlewareInput,
  ResponseStream,
} from '../index.ts'
import type { ChatResponseInit } from '../authoring.ts'
import type { AgentResponseInit } from './outcome.ts'
import type { StreamOutcome } from '../stream/stream-outcome.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  ResponseStream as Stream,
  withMiddleware,
} from '../index.ts'

declare const client: ChatClient
const defineAgentMiddleware = agentMiddleware('a', (_, callNext) => callNext())
const defineChatMiddleware = chatMiddleware('c', (_, callNext) => callNext())
const defineFunctionMiddleware = functionMiddleware('f', (_, callNext) => callNext())

describe('lists', () => {
  it('an agent takes all levels, nested or not, one or many', () => {
    expectTypeOf([
      defineAgentMiddleware,
      [defineChatMiddleware, [defineFunctionMiddleware]],
    ]).toExtend<MiddlewareInput>()
    expectTypeOf(defineAgentMiddleware).toExtend<MiddlewareInput>()
  })

  it('a client takes no agent middleware, however deep', () => {
    expectTypeOf([
      defineChatMiddleware,
      [defineFunctionMiddleware],
    ]).toExtend<ClientMiddlewareInput>()
    // @ts-expect-error an agent middleware cannot run in a client
    withMiddleware(client, defineAgentMiddleware)
    // @ts-expect-error nor as a part of a feature
    withMiddleware(client, [defineChatMiddleware, [defineAgentMiddleware]])
  })

  it('nothing else is taken', () => {
    const agentWith = (middleware: MiddlewareInput): Agent => new Agent({ client, middleware })

    // @ts-expect-error a bare function has no level
    agentWith([async () => {}])
    // @ts-expect-error a string is none
    agentWith(['audit'])
    // @ts-expect-error the level is unknown
    agentWith({ level: 'model', name: 'm', process: async () => {} })
    // @ts-expect-error the name is missing
    agentWith({ level: 'chat', process: async () => {} })
  })

  it('a process for one level does not do for another', () => {
    const chat: ChatMiddleware['process'] = (context, callNext) => {
      expectTypeOf(context.iteration).toEqualTypeOf<number>()
      return callNext()
    }

    // @ts-expect-error an agent context has no iteration
    agentMiddleware('a', chat)
  })
})

describe('callNext() and context.result', () => {
  it('at agent level are an agent’s response', () => {
    agentMiddleware('a', async (context, callNext) => {
      expectTypeOf(callNext()).toEqualTypeOf<Promise<AgentResponse>>()
      expectTypeOf(context.result).toEqualTypeOf<AgentResponse | undefined>()
      context.result = 'text'
      context.result = { messages: 'text', status: 'completed' } satisfies AgentResponseInit
      context.result = undefined
      // @ts-expect-error a number is no response
      context.result = 7
    })
  })

  it('at chat level are a model’s', () => {
    chatMiddleware('c', async (context, callNext) => {
      expectTypeOf(callNext()).toEqualTypeOf<Promise<ChatResponse>>()
      expectTypeOf(context.result).toEqualTypeOf<ChatResponse | undefined>()
      context.result = 'text'
      context.result = { messages: [] } satisfies ChatResponseInit
      // @ts-expect-error a response has messages
      context.result = { text: 'text' }
    })
  })

  it('at function level are a tool’s, and any value may be put in place', () => {
    functionMiddleware('f', async (context, callNext) => {
      expectTypeOf(callNext()).toEqualTypeOf<Promise<FunctionResult>>()
      expectTypeOf(context.result).toEqualTypeOf<FunctionResult | undefined>()
      context.result = { any: 'value' }
    })
  })

  it('callNext() takes nothing', () => {
    // @ts-expect-error what is inside reads the context
    chatMiddleware('c', (context, callNext) => callNext(context))
  })
})

describe('contexts', () => {
  it('lists and options are replaced, not edited in place', () => {
    chatMiddleware('c', async (context, callNext) => {
      expectTypeOf(context.messages).toEqualTypeOf<readonly Message[]>()
      context.messages = [...context.messages]
      context.options = { ...context.options, temperature: 0 }
      // @ts-expect-error a list is not added to
      context.messages.push({ id: 'm', role: 'user', contents: [] })
      // @ts-expect-error an option is not set in place
      context.options.temperature = 0
      // @ts-expect-error nor is a message
      context.messages[0]!.contents = []
      await callNext()
    })
  })

  it('what tells of the run cannot be assigned', () => {
    chatMiddleware('c', (context, callNext) => {
      // @ts-expect-error the mode is the caller’s
      context.stream = true
      // @ts-expect-error the run is what it is
      context.run = undefined
      return callNext()
    })
  })

  it('transforms are typed by their level', () => {
    chatMiddleware('c', (context, callNext) => {
      context.transformUpdates({
        transform(update, controller) {
          expectTypeOf(update).toEqualTypeOf<ChatResponseUpdate>()
          controller.enqueue({ contents: [] })
        },
      })
      return callNext()
    })
    agentMiddleware('a', (context, callNext) => {
      context.transformUpdates({
        transform(update) {
          expectTypeOf(update).toEqualTypeOf<AgentResponseUpdate>()
        },
      })
      return callNext()
    })
  })

  it('a middleware returns nothing or a result, and nothing else', () => {
    agentMiddleware('text', () => 'Answered.')
    chatMiddleware('text', async () => ({ messages: 'Answered.' }))
    chatMiddleware('changed', async (_, callNext) => ({ ...(await callNext()), model: 'small' }))
    functionMiddleware('value', () => ({ degrees: 3 }))
    agentMiddleware('perhaps', async (_, callNext) =>
      Math.random() > 1 ? 'Answered.' : void (await callNext()),
    )

    // @ts-expect-error a number is no response
    agentMiddleware('number', async () => 7)
    // @ts-expect-error nor is the result of a tool
    chatMiddleware('result', () => ({ contents: [] }))
  })

  it('a class is a middleware by its shape', () => {
    class Middleware implements ChatMiddleware {
      readonly level = 'chat'
      readonly name = 'middleware'
      process(...[, callNext]: Parameters<ChatMiddleware['process']>): Promise<ChatResponse> {
        return callNext()
      }
    }

    expectTypeOf<Middleware>().toExtend<MiddlewareInput>()
    expectTypeOf<Middleware>().not.toExtend<AgentMiddleware>()
    expectTypeOf<Middleware>().not.toExtend<FunctionMiddleware>()
  })
})

describe('streams', () => {
  const agent = new Agent({ client })

  it('the mode decides what run() gives', () => {
    expectTypeOf(agent.run('Hello')).toEqualTypeOf<Promise<AgentResponse>>()
    expectTypeOf(agent.run('Hello', { stream: true })).toEqualTypeOf<
      ResponseStream<AgentResponseUpdate, AgentResponse>
    >()
    expectTypeOf(client.getResponse('Hello', { stream: true })).toEqualTypeOf<
      ResponseStream<ChatResponseUpdate, ChatResponse>
    >()
  })

  it('without a finalizer the final value is the list of updates, and the type says so', () => {
    expectTypeOf(Stream.from([1]).finalResponse()).toEqualTypeOf<Promise<readonly number[]>>()
  })

  it('deriving changes the types, and needs a finalizer where the update’s changes', () => {
    const stream = Stream.from([1])

    expectTypeOf(
      stream.map(
        (update) => `${update}`,
        (all) => all.length,
      ),
    ).toEqualTypeOf<ResponseStream<string, number>>()
    expectTypeOf(stream.withFinalizer((all) => all.length)).toEqualTypeOf<
      ResponseStream<number, number>
    >()
    // @ts-expect-error there is no finalizer
    stream.map((update) => `${update}`)
  })

  it('an outcome has a response only where it is done', () => {
    const read = (outcome: StreamOutcome<number>): unknown => {
      if (outcome.status === 'done') return outcome.response
      expectTypeOf(outcome.partial).toEqualTypeOf<number | undefined>()
      // @ts-expect-error it did not come to its end
      return outcome.response
    }

    expectTypeOf(read).toBeFunction()
  })
})
