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
import { Agent, agentMiddleware, chatMiddleware, functionMiddleware, tool } from '@lamella/core'
import type { Chunking } from './chunking.ts'
import { frozenCopy } from './frozen-copy.ts'
import type { ScriptedAnswer, ScriptedRequest, ScriptedStep } from './scripted-step.ts'
import { callFunction } from './scripted-step.ts'
import { scriptedClient } from './scripted-client.ts'

/** What came of a run with the middleware under test. */
export interface MiddlewareRun<Result, InnerCall> {
  /** What left the middleware, of the last time that it ran; `undefined` where it threw. */
  readonly result: Result | undefined
  /** What the middleware threw, or what the run rejected with; `undefined` where neither did. */
  readonly error: unknown
  /** What the caller saw of a streamed run. Empty without `stream`. */
  readonly updates: readonly AgentResponseUpdate[]
  /** What was emitted, streamed or not. */
  readonly events: readonly RunEvent[]
  /** What reached the inside of the middleware, in order. */
  readonly innerCalls: readonly InnerCall[]
  /** What the caller of the whole run got, with its `status`; `undefined` where it rejected. */
  readonly response: AgentResponse | undefined
}

/** How the run around the middleware is made. */
export interface MiddlewareRunOptions
  extends Pick<RunOptions, 'signal' | 'session' | 'data' | 'onRequest' | 'onEvent'> {
  /** @default 'Hello' */
  readonly input?: MessageInput | undefined
  /** @default false */
  readonly stream?: boolean | undefined
  readonly instructions?: string | undefined
  /** Options of the model calls. */
  readonly options?: ChatOptions | undefined
}

export interface ChatMiddlewareRunOptions extends MiddlewareRunOptions {
  /**
   * What the model answers; a function answers every call.
   * @default 'The answer.' every time
   */
  readonly replies?: readonly ScriptedStep[] | ScriptedAnswer | undefined
  /**
   * How a streamed reply is cut.
   * @default 'word'
   */
  readonly chunk?: Chunking | undefined
  /** In place of a scripted one. `innerCalls` stays empty then. */
  readonly client?: ChatClient | undefined
}

export interface AgentMiddlewareRunOptions extends ChatMiddlewareRunOptions {
  readonly tools?: readonly Tool[] | undefined
}

export interface FunctionMiddlewareRunOptions extends MiddlewareRunOptions {
  /** @default a tool `test_tool` that takes any object and gives 'done' */
  readonly tool?: Tool | undefined
  /**
   * What the tool does, in place of its own.
   * @default the tool's own
   */
  readonly execute?:
    | ((args: Record<string, unknown>, context: FunctionInvocationContext) => unknown)
    | undefined
  /** @default {} */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
}

/** A run as it reached the inside of an agent middleware. */
export type InnerRun = Readonly<
  Pick<AgentContext, 'messages' | 'instructions' | 'options' | 'tools'>
> & {
  readonly session: Session | undefined
}

/** A tool call as it reached the tool. */
export interface InnerToolCall {
  readonly callId: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * Runs a chat middleware alone around a scripted model call, through the pipeline of an agent. Tool
 * calls that the model makes are not executed. What goes wrong is in the result: it never rejects.
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
  parameters: { type: 'object' },
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
