import type {
  AgentContext,
  AgentResponse,
  AgentResponseUpdate,
  ChatClient,
  ChatOptions,
  ChatResponse,
  FunctionInvocationContext,
  FunctionResult,
  MessageInput,
  MiddlewareInput,
  RunEvent,
  RunOptions,
  Session,
  Tool,
} from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '@lamella/core'
import type { Chunking } from '../base/chunking.ts'
import { frozenCopy } from '../base/frozen-copy.ts'
import type { ScriptedAnswer, ScriptedRequest, ScriptedStep } from './scripted-step.ts'
import { callFunction } from './scripted-step.ts'
import { scriptedClient } from './scripted-client.ts'

/** Outcome of a run with the middleware under test. */
export interface MiddlewareRun<Result, InnerCall> {
  /** Result of the middleware when it ran last; `undefined` if it threw. */
  readonly result: Result | undefined
  /** Error of the middleware, or of the run; `undefined` if there was none. */
  readonly error: unknown
  /** Updates that the caller of a streamed run received. Empty without `stream`. */
  readonly updates: readonly AgentResponseUpdate[]
  /** Emitted events, streamed or not. */
  readonly events: readonly RunEvent[]
  /** Inner calls of the middleware, in order. */
  readonly innerCalls: readonly InnerCall[]
  /**
   * Response to the caller of the whole run, with its `status`; `undefined` if the run rejected.
   */
  readonly response: AgentResponse | undefined
}

/** Options of the run around the middleware. */
export interface MiddlewareRunOptions
  extends Pick<RunOptions, 'signal' | 'session' | 'data' | 'onRequest' | 'onEvent'> {
  /**
   * Input of the run.
   * @default 'Hello'
   */
  readonly input?: MessageInput | undefined
  /**
   * Streams the run.
   * @default false
   */
  readonly stream?: boolean | undefined
  /** Instructions of the run. @default none */
  readonly instructions?: string | undefined
  /** Options of the model calls. */
  readonly options?: ChatOptions | undefined
}

/** Options of `runChatMiddleware`. */
export interface ChatMiddlewareRunOptions extends MiddlewareRunOptions {
  /**
   * Replies of the model; a function replies to every call.
   * @default 'The answer.' every time
   */
  readonly replies?: readonly ScriptedStep[] | ScriptedAnswer | undefined
  /**
   * Chunking of a streamed reply.
   * @default 'word'
   */
  readonly chunk?: Chunking | undefined
  /** Client that replaces the scripted one. `innerCalls` stays empty then. */
  readonly client?: ChatClient | undefined
}

/** Options of `runAgentMiddleware`. */
export interface AgentMiddlewareRunOptions extends ChatMiddlewareRunOptions {
  /** Tools of the agent. */
  readonly tools?: readonly Tool[] | undefined
}

/** Options of `runFunctionMiddleware`. */
export interface FunctionMiddlewareRunOptions extends MiddlewareRunOptions {
  /**
   * Tool to call.
   * @default a tool `test_tool` that takes any object and returns 'done'
   */
  readonly tool?: Tool | undefined
  /**
   * Behavior of the tool, overriding its own.
   * @default the tool's own
   */
  readonly execute?:
    | ((args: Record<string, unknown>, context: FunctionInvocationContext) => unknown)
    | undefined
  /**
   * Arguments of the call.
   * @default {}
   */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
}

/** A run as the inner part of an agent middleware received it. */
export type InnerRun = Readonly<
  Pick<AgentContext, 'messages' | 'instructions' | 'options' | 'tools'>
> & {
  /** Session of the run. */
  readonly session: Session | undefined
}

/** A tool call as it reached the tool. */
export interface InnerToolCall {
  /** Id of the call. */
  readonly callId: string
  /** Arguments of the call. */
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * Runs a chat middleware alone around a scripted model call, through the pipeline of an agent. Tool
 * calls of the model are not executed. Never rejects: errors are in the result.
 */
export async function runChatMiddleware(
  middleware: MiddlewareInput,
  options: ChatMiddlewareRunOptions = {},
): Promise<MiddlewareRun<ChatResponse, ScriptedRequest>> {
  const scripted = scriptedClient(options.replies ?? defaultReply, { chunk: options.chunk })
  const client = options.client ?? scripted
  const agent = new Agent({ client, functionInvocation: { enabled: false } })
  const left: Left<ChatResponse> = {}
  const probe = chatMiddleware('testing-probe', (_, callNext) => observe(left, callNext))
  return {
    ...(await run(agent, [probe, middleware], left, options)),
    innerCalls: scripted.requests,
  }
}

/** Runs an agent middleware alone around a scripted run. Its tools are executed. Never rejects. */
export async function runAgentMiddleware(
  middleware: MiddlewareInput,
  options: AgentMiddlewareRunOptions = {},
): Promise<MiddlewareRun<AgentResponse, InnerRun>> {
  const scripted = scriptedClient(options.replies ?? defaultReply, { chunk: options.chunk })
  const agent = new Agent({ client: options.client ?? scripted, tools: options.tools ?? [] })
  const left: Left<AgentResponse> = {}
  const innerCalls: InnerRun[] = []
  const probe = agentMiddleware('testing-probe', (_, callNext) => observe(left, callNext))
  const inside = agentMiddleware('testing-inside', async (context, callNext) => {
    const { messages, instructions, session, options: chatOptions, tools } = context
    innerCalls.push({
      messages: frozenCopy(messages),
      instructions,
      session,
      options: chatOptions,
      tools,
    })
    await callNext()
  })
  return { ...(await run(agent, [probe, middleware, inside], left, options)), innerCalls }
}

/** Runs a function middleware alone around one call of a tool. Never rejects. */
export async function runFunctionMiddleware(
  middleware: MiddlewareInput,
  options: FunctionMiddlewareRunOptions = {},
): Promise<MiddlewareRun<FunctionResult, InnerToolCall>> {
  const innerCalls: InnerToolCall[] = []
  const given = options.tool ?? testTool
  const execute = options.execute ?? given.execute
  const observed: Tool = {
    ...given,
    execute:
      execute &&
      ((args, context) => {
        innerCalls.push({ callId: context.callId, arguments: frozenCopy(args) })
        return execute(args, context)
      }),
  }
  const client = scriptedClient(({ index }) =>
    index === 0 ? callFunction(given.name, options.arguments) : 'Done.',
  )
  const agent = new Agent({ client, tools: [observed] })
  const left: Left<FunctionResult> = {}
  const probe = functionMiddleware('testing-probe', (_, callNext) => observe(left, callNext))
  return { ...(await run(agent, [probe, middleware], left, options)), innerCalls }
}

interface Left<Result> {
  result?: Result | undefined
  error?: unknown
}

const defaultReply = (): string => 'The answer.'

const testTool: Tool = tool({
  name: 'test_tool',
  description: 'Does what the test says.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'done',
})

async function observe<Result>(left: Left<Result>, callNext: () => Promise<Result>): Promise<void> {
  left.result = left.error = undefined
  try {
    left.result = await callNext()
  } catch (error) {
    left.error = error
    throw error
  }
}

async function run<Result>(
  agent: Agent,
  middleware: MiddlewareInput,
  left: Left<Result>,
  options: MiddlewareRunOptions,
): Promise<Omit<MiddlewareRun<Result, never>, 'innerCalls'>> {
  const { input = 'Hello', stream = false, ...given } = options
  const { instructions, options: chatOptions, signal, session, data, onRequest } = given
  const updates: AgentResponseUpdate[] = []
  const events: RunEvent[] = []
  const runOptions: RunOptions = {
    middleware,
    instructions,
    options: chatOptions,
    signal,
    session,
    data,
    onRequest,
    onEvent(event) {
      events.push(event)
      options.onEvent?.(event)
    },
  }
  try {
    let response: AgentResponse
    if (stream) {
      const updatesOfRun = agent.run(input, { ...runOptions, stream })
      for await (const update of updatesOfRun) updates.push(update)
      response = await updatesOfRun.finalResponse()
    } else {
      response = await agent.run(input, runOptions)
    }
    return { result: left.result, error: left.error, updates, events, response }
  } catch (error) {
    return { result: left.result, error: left.error ?? error, updates, events, response: undefined }
  }
}
