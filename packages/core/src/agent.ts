import type { AgentResponse, AgentResponseUpdate } from './agent-response.ts'
import type { Pipelines } from './agent-run.ts'
import { resumeRun, startRun } from './agent-run.ts'
import type { AgentToolOptions } from './agent-tool.ts'
import { agentTool } from './agent-tool.ts'
import { ApprovalRegistry } from './approvals.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatOptions } from './chat-options.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Explanation } from './explain.ts'
import { explainRun } from './explain.ts'
import type { FunctionInvocationConfiguration, LoopConfiguration } from './function-invocation.ts'
import { loopConfiguration } from './function-invocation.ts'
import type { MessageInput } from './message.ts'
import type { MiddlewareInput } from './middleware.ts'
import { disposeLayers, sortLayers } from './middleware.ts'
import type { ResponseStream } from './response-stream.ts'
import type { RunControl } from './run-control.ts'
import type { RunContext } from './run-context.ts'
import type { RunEvent } from './run-events.ts'
import type { Session, SessionSnapshot } from './session.ts'
import { createSession } from './session.ts'
import type { KeyValueStore } from './store.ts'
import type { Tool, ToolDefinition } from './tool.ts'

export interface AgentOptions {
  readonly client: ChatClient
  /** For logs, spans and other agents. */
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly instructions?: string | undefined
  readonly tools?: readonly ToolDefinition[] | undefined
  /** Layers of all levels, outermost first. They lie inside the client's and outside a run's. */
  readonly middleware?: MiddlewareInput | undefined
  /** Options of every model call. A run's own win. */
  readonly options?: ChatOptions | undefined
  readonly functionInvocation?: FunctionInvocationConfiguration | undefined
  /**
   * What a run does when a guard blocks it: resolve with status `blocked`, or reject.
   * @default 'return'
   */
  readonly onBlock?: 'return' | 'throw' | undefined
  /**
   * What the user reads when a guard blocks, unless the guard has words of its own.
   * @default 'I cannot help with this request.'
   */
  readonly blockMessage?: string | undefined
  /**
   * What the user reads when the last word of the model was a tool call that may not run.
   * @default 'I could not finish this with the tools at hand.'
   */
  readonly fallbackText?: string | undefined
  /** Where state of scope `tenant` is kept. */
  readonly stateStore?: KeyValueStore | undefined
}

export interface RunOptions {
  readonly session?: Session | undefined
  readonly signal?: AbortSignal | undefined
  /** Besides the agent's own. */
  readonly tools?: readonly ToolDefinition[] | undefined
  /** Layers of this run, inside the agent's. */
  readonly middleware?: MiddlewareInput | undefined
  /** Appended to the agent's. */
  readonly instructions?: string | undefined
  readonly options?: ChatOptions | undefined
  readonly functionInvocation?: FunctionInvocationConfiguration | undefined
  readonly onBlock?: 'return' | 'throw' | undefined
  /** Whose run it is, where several share an application: for limits, budgets, caches and state. */
  readonly tenant?: string | undefined
  /** Anything that layers and tools of this run need: a user, a database. Never shown to a model. */
  readonly data?: unknown
  /** @default a new id */
  readonly runId?: string | undefined
  /** The run whose tool starts this one. */
  readonly parent?: RunContext | undefined
  /**
   * Told after each step (an answer of the model with calls, a tool's result, a finished round) where
   * the run stands, so that `resume(checkpoint, {})` goes on from there after a crash. The run waits
   * for it, and fails with it. Each call gets a copy of the whole conversation.
   */
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined
  /**
   * Whether the session keeps what a run has said that failed, was aborted or ran out of budget, each
   * message with `metadata.partial`. What a guard has blocked, or not judged yet, is never kept.
   * @default false
   */
  readonly keepPartial?: boolean | undefined
  /** Cancels the run, and those it starts, now or at a safe point. */
  readonly control?: RunControl | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Answers what a layer or tool asks by `run.request`; `undefined` leaves it to `stream.respond`. */
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
}

/** A model with tools and layers. It holds configuration only: one agent serves any number of runs at once. */
export class Agent {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly client: ChatClient
  readonly instructions: string | undefined
  readonly tools: readonly ToolDefinition[]
  readonly options: ChatOptions | undefined
  readonly functionInvocation: FunctionInvocationConfiguration | undefined
  /** @internal The same, with what it leaves out. */
  readonly settings: LoopConfiguration
  readonly onBlock: 'return' | 'throw'
  readonly blockMessage: string
  readonly fallbackText: string
  readonly stateStore: KeyValueStore | undefined
  /** Read anew at each run. */
  middleware: MiddlewareInput
  /** @internal The pipelines of the last run that added no layers. */
  readonly composed: { last?: Pipelines } = {}
  /** @internal Approvals that runs without a session have asked for. */
  readonly approvals: ApprovalRegistry = new ApprovalRegistry()

  /** @throws TypeError or RangeError that names the option and the value */
  constructor(options: AgentOptions) {
    const { client, name, tools = [], middleware = [], onBlock = 'return' } = options
    if (typeof client?.respond !== 'function' || typeof client.stream !== 'function') {
      throw new TypeError('agent: `client` must be a chat client, with `respond` and `stream`')
    }
    if (onBlock !== 'return' && onBlock !== 'throw') {
      throw new TypeError(`agent: \`onBlock\` must be 'return' or 'throw', got ${String(onBlock)}`)
    }
    if (!Array.isArray(tools)) throw new TypeError('agent: `tools` must be a list of tools')
    sortLayers(middleware, 'agent')
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
    this.stateStore = options.stateStore
    this.fallbackText = options.fallbackText ?? 'I could not finish this with the tools at hand.'
  }

  /**
   * Runs the agent. Resolves for every intended end, see `status`; rejects for failures and aborts,
   * with the error's `outcome` saying how far it got. With `stream: true` it returns a stream at
   * once, which starts with the first pull.
   */
  run(
    input: MessageInput,
    options: RunOptions & { readonly stream: true },
  ): ResponseStream<AgentResponseUpdate, AgentResponse>
  run(
    input: MessageInput,
    options?: RunOptions & { readonly stream?: false | undefined },
  ): Promise<AgentResponse>
  run(
    input: MessageInput,
    options: RunOptions & { readonly stream?: boolean | undefined } = {},
  ): Promise<AgentResponse> | ResponseStream<AgentResponseUpdate, AgentResponse> {
    return startRun(this, input, options)
  }

  /**
   * Continues a paused run. `answers` maps ids of `response.pending` to answers: true, false or
   * `{ approved, arguments, reason }` for an approval, the result for a declared tool, anything for
   * an interrupt. What is not answered stays pending.
   * @throws LamellaError `checkpoint_invalid`, or `approval_invalid` for an answer nobody asked for
   */
  resume(
    checkpoint: Checkpoint,
    answers: Readonly<Record<string, unknown>>,
    options: RunOptions & { readonly stream: true },
  ): ResponseStream<AgentResponseUpdate, AgentResponse>
  resume(
    checkpoint: Checkpoint,
    answers: Readonly<Record<string, unknown>>,
    options?: RunOptions & { readonly stream?: false | undefined },
  ): Promise<AgentResponse>
  resume(
    checkpoint: Checkpoint,
    answers: Readonly<Record<string, unknown>>,
    options: RunOptions & { readonly stream?: boolean | undefined } = {},
  ): Promise<AgentResponse> | ResponseStream<AgentResponseUpdate, AgentResponse> {
    return resumeRun(this, checkpoint, answers, options)
  }

  /** An empty session, or one from its snapshot. */
  createSession(from?: Partial<Omit<SessionSnapshot, 'version'>>): Session {
    return createSession(from)
  }

  /** Disposes of its layers that can be, the innermost first, each also if another one fails. */
  [Symbol.asyncDispose](): Promise<void> {
    return disposeLayers(sortLayers(this.middleware, 'agent'))
  }

  /** A tool that runs this agent. */
  asTool(options: AgentToolOptions = {}): Tool {
    return agentTool(this, options)
  }

  /** What a run with this input would go through: layers, tools, settings. Nothing is called. */
  explain(input: MessageInput, options: RunOptions = {}): Explanation {
    return explainRun(this, input, options)
  }
}
