import { checkOptions, checkValue } from '../base/check-options.ts'
import type { MiddlewareInput } from '../contract/agent.ts'
import type { ChatOptions, FormatOption } from '../contract/chat-options.ts'
import type { Clock } from '../base/timers.ts'
import type { Schema } from '../base/standard-schema.ts'
import { systemClock } from '../base/timers.ts'
import { checkInstructions } from '../contract/chat-options.ts'
import type { ChatClient } from '../contract/chat.ts'
import type { FunctionInvocationConfiguration, LoopConfiguration } from '../contract/limits.ts'
import type { AgentResponse, AgentResponseUpdate, Checkpoint } from '../contract/outcome.ts'
import type { ToolDefinition } from '../contract/run.ts'
import type { ToolOptions } from '../contract/tool.ts'
import type { Session, SessionSnapshot } from '../messages/session.ts'
import { createSession } from '../messages/session.ts'
import { loopConfiguration } from '../loop/limits.ts'
import type { MessageInput } from '../messages/message.ts'
import { OpenApprovals } from '../pausing/open-approvals.ts'
import { disposeMiddlewares, sortMiddlewares } from '../pipeline/sort-middleware.ts'
import type { SigningKey } from '../run/checkpoint-signer.ts'
import { CheckpointSigner } from '../run/checkpoint-signer.ts'
import type { KeyValueStore } from '../store/store.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import type { Pipelines } from './agent-call.ts'
import type { AgentOptions, RunOptions } from './agent-options.ts'
import { agentHints, agentRules } from './agent-options.ts'
import { pipelinesOf, resumeRun, startRun } from './agent-run.ts'

/** A function where a middleware belongs. Nothing has this type: the compiler's message says what to write. */
interface UncalledFactory {
  (...given: never): unknown
  readonly 'call it, as retry(), or wrap it with chatMiddleware()': never
}

/** The same for an object where a tool belongs. */
interface UnmadeTool
  extends Partial<Record<keyof ToolOptions<Schema> | 'type' | 'function', unknown>> {
  readonly 'make it with tool({ … })': never
}

interface Written {
  /** Tools of every run, made with `tool()`. @default [] */
  readonly tools?: readonly (ToolDefinition | UnmadeTool)[] | undefined
  /** Middleware of all levels, outermost first. It runs inside the client's and outside a run's. @default [] */
  readonly middleware?:
    | MiddlewareInput
    | UncalledFactory
    | readonly (MiddlewareInput | UncalledFactory)[]
    | undefined
}

interface RunFormat<Value> {
  readonly options?: FormatOption<Value> | undefined
}

/** One signature for both modes: of overloads, the compiler's message names the wrong one. */
interface Streaming<Stream> {
  /** Returns a stream instead of a promise. @default false */
  readonly stream?: Stream
}

type Ran<Value, Stream> = Stream extends true
  ? ResponseStream<AgentResponseUpdate, AgentResponse<Value>>
  : Promise<AgentResponse<Value>>

/**
 * A model with tools and middleware. It holds configuration only: one agent can serve any number
 * of concurrent runs. `Data` is the type of the run's `data`, `Value` that of `response.value`.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const client = scriptedClient(['Hello, Ada.'])
 * const agent = new Agent({ client, instructions: 'Answer in one sentence.' })
 * const { text, status } = await agent.run('Hi, I am Ada.')
 * console.log(text, status) // Hello, Ada. completed
 * ```
 */
export class Agent<Data = unknown, Value = unknown> {
  /** Name of the agent, for logs, spans and other agents. */
  readonly name: string | undefined
  /** Description of the agent; the default description of its `agentTool`. */
  readonly description: string | undefined
  /** Client that model calls go to. */
  readonly client: ChatClient
  /** System instructions of every run. */
  readonly instructions: string | undefined
  /** Tools of every run. */
  readonly tools: readonly ToolDefinition[]
  /** Model options of every run. */
  readonly options: ChatOptions | undefined
  /** Settings of the tool loop, as they were given. */
  readonly functionInvocation: FunctionInvocationConfiguration | undefined
  /** @internal The same, with what it leaves out. */
  readonly settings: LoopConfiguration
  /**
   * Result of a run that a guardrail blocks: `return` resolves with status `blocked`, `throw`
   * rejects.
   */
  readonly onBlock: 'return' | 'throw'
  /** Text that replaces a blocked answer. */
  readonly blockMessage: string
  /** Text that replaces a final answer made of tool calls that cannot run. */
  readonly fallbackText: string
  /** Store of everything that outlives a run. Undefined without one. */
  readonly store: KeyValueStore | undefined
  /** Milliseconds to wait for an answer of the store to state of scope `tenant`, as given. */
  readonly storeTimeoutMs: number | undefined
  /** Signs checkpoints, and recognizes its own. Its keys cannot be read. */
  readonly sign: CheckpointSigner
  /** Clock of every run. Undefined for that of the machine. */
  readonly clock: Clock | undefined
  /** Random numbers of every run. Undefined for those of the platform. */
  readonly random: (() => number) | undefined
  /** Middleware of every run, outermost first. Read at the start of each run. */
  middleware: MiddlewareInput
  /** @internal The pipelines of runs that add no middleware. */
  readonly composed: { last?: Pipelines } = {}
  /** @internal Approvals that runs without a session have asked for. */
  readonly approvals: OpenApprovals = new OpenApprovals()

  /** @throws TypeError or RangeError that names the option and the value */
  constructor(written: Omit<AgentOptions, keyof Written> & Written & RunFormat<Value>) {
    const options = written as AgentOptions & RunFormat<Value>
    checkOptions('agent', options, agentRules, agentHints)
    const { client, name, tools = [], middleware = [], onBlock = 'return' } = options ?? {}
    const isClient = typeof client?.respond === 'function' && typeof client.stream === 'function'
    checkValue(
      isClient,
      'agent: `client`',
      'be a chat client, such as `new OpenAIChatClient({ model })`',
      client,
    )
    checkValue(Array.isArray(tools), 'agent: `tools`', 'be a list of tools', tools)
    checkInstructions(options.instructions)
    this.name = name
    this.description = options.description
    this.client = client
    this.instructions = options.instructions
    this.tools = tools
    this.middleware = middleware
    this.options = options.options
    this.functionInvocation = options.functionInvocation
    this.settings = loopConfiguration(options.functionInvocation)
    this.onBlock = onBlock
    this.blockMessage = options.blockMessage ?? 'I cannot help with this request.'
    this.store = options.store
    this.storeTimeoutMs = options.storeTimeoutMs
    this.sign = signerOf(options.sign)
    this.clock = clockOf(options.clock)
    this.random = options.random
    this.fallbackText = options.fallbackText ?? 'I could not finish this with the tools at hand.'
    // Composes the middleware for the first run, and checks it here.
    pipelinesOf(this, {})
  }

  /**
   * Runs the agent. Resolves for every intended end, see `status`; rejects for failures and aborts,
   * and `outcomeOf(error)` has the progress so far. With `stream: true` it returns a stream at
   * once, which starts with the first pull.
   */
  run<Answer = Value, Stream extends boolean | undefined = false>(
    input: MessageInput,
    options: RunOptions<Data> & RunFormat<Answer> & Streaming<Stream> = {},
  ): Ran<Answer, Stream> {
    return startRun(this, input, options) as Ran<Answer, Stream>
  }

  /**
   * Continues a paused run. `answers` maps ids of `response.pending` to answers: true, false or `{
   * approved, arguments, reason }` for an approval, the result for a declared tool, anything for an
   * interrupt. Requests without an answer stay pending.
   * @throws LamellaError `checkpoint_invalid`, or `approval_invalid` for an answer without a
   * pending request
   */
  resume<Stream extends boolean | undefined = false>(
    checkpoint: Checkpoint,
    answers: Readonly<Record<string, unknown>>,
    options: RunOptions<Data> & Streaming<Stream> = {},
  ): Ran<Value, Stream> {
    return resumeRun(this, checkpoint, answers, options) as Ran<Value, Stream>
  }

  /** Creates an empty session, or one from its snapshot. */
  createSession(from?: Partial<Omit<SessionSnapshot, 'version'>>): Session {
    return createSession(from)
  }

  /** Disposes of all disposable middleware, innermost first, even if one of them fails. */
  [Symbol.asyncDispose](): Promise<void> {
    return disposeMiddlewares(sortMiddlewares(this.middleware ?? [], 'agent'))
  }
}

function clockOf(clock: AgentOptions['clock']): Clock | undefined {
  if (clock === undefined) return undefined
  checkValue(typeof clock.now === 'function', 'agent: `clock`', 'have a function `now`', clock)
  const sleep: Clock['sleep'] = (...wait) =>
    clock.sleep === undefined ? systemClock.sleep(...wait) : clock.sleep(...wait)
  return { now: () => clock.now(), sleep }
}

function signerOf(sign: AgentOptions['sign'] = []): CheckpointSigner {
  if (sign instanceof CheckpointSigner) return sign
  return new CheckpointSigner([sign].flat() as readonly SigningKey[])
}
