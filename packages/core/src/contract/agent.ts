import type { Message } from '../messages/message.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatClient, ChatMiddleware } from './chat.ts'
import type { LoopConfiguration } from './limits.ts'
import type { AgentResponse, AgentResponseInit, AgentResponseUpdate } from './outcome.ts'
import type {
  CallNext,
  FunctionMiddleware,
  MiddlewareBase,
  Returned,
  RunContext,
  ToolDefinition,
} from './run.ts'
import type { Session } from '../messages/session.ts'

/**
 * The agent of a run, as its middleware sees it. To run it, a middleware needs the `Agent` itself.
 */
export interface AgentInfo {
  /** Name of the agent. */
  readonly name: string | undefined
  /** Description of the agent. */
  readonly description: string | undefined
  /** Client that model calls go to. */
  readonly client: ChatClient
  /** System instructions of every run. */
  readonly instructions: string | undefined
  /** Tools of every run. */
  readonly tools: readonly ToolDefinition[]
  /** Model options of every run. */
  readonly options: ChatOptions | undefined
  /** Its own middleware, besides the client's and a run's. */
  readonly middleware: MiddlewareInput
}

/** One run of an agent. Only the middleware further inside sees assignments. */
export interface AgentContext<Data = unknown> {
  /** Configuration of the agent. */
  readonly agent: AgentInfo
  /** Data and controls that all contexts of this run share. */
  readonly run: RunContext<Data>
  /** Values that the middleware of this run shares. */
  readonly metadata: Record<string, unknown>
  /**
   * Aborted when the run ends early. A middleware that may cancel the run assigns its own signal,
   * as in a `ChatContext`; all model calls and tool calls of the run observe it.
   */
  signal: AbortSignal
  /** True if the caller requested a stream. */
  readonly stream: boolean
  /**
   * True if the run continues and had come further than this middleware: into its loop, or to one further inside that
   * paused it. Edits before `callNext()` are recorded then: those of the conversation, the tools, `instructions` and
   * `options` hold, and are not made again.
   */
  readonly resumed: boolean
  /** True once content of this run has reached the caller. */
  readonly released: boolean
  /** The input of this run; history is not in it. */
  messages: readonly Message[]
  /** Session of the run. Undefined without one. */
  session: Session | undefined
  /** System instructions of the run. Undefined without any. */
  instructions: string | undefined
  /** Model options of the run. */
  options: ChatOptions
  /**
   * Tools that are shown to the model: the agent's and the run's. Removing one here removes it from
   * the run.
   */
  tools: readonly ToolDefinition[]
  /** Response of the run, after `callNext()`. Assigning a value replaces it. */
  get result(): AgentResponse | undefined
  set result(value: AgentResponse | AgentResponseInit | string | undefined)
  /** Registers a transformer for the updates of this run. Call it before `callNext()`. */
  transformUpdates(transformer: UpdateTransformer<AgentResponseUpdate>): void
}

/** Lists the middleware, tools and settings of a run. `String(explanation)` formats it. */
export interface Explanation {
  /** Name of the agent. */
  readonly name: string | undefined
  /** Names of the agent middleware, outermost first. */
  readonly agent: readonly string[]
  /** Names of the chat middleware, outermost first. */
  readonly chat: readonly string[]
  /** Names of the function middleware, outermost first. */
  readonly function: readonly string[]
  /** Provider of the client. */
  readonly provider: string
  /** Name of the client: its provider's, unless it has one of its own. */
  readonly client: string
  /** Model that is called first. */
  readonly model: string | undefined
  /** Names of the tools. */
  readonly tools: readonly string[]
  /** Messages of the input, and of the session before it. */
  readonly messages: {
    /** Number of messages of the input. */
    readonly input: number
    /** Number of messages of the session. */
    readonly history: number
  }
  /** Settings of the tool loop, with defaults filled in. */
  readonly settings: LoopConfiguration
  /**
   * Middleware whose order is not the recommended one, or that shares a name, and what it reports about
   * their own options.
   */
  readonly warnings: readonly string[]
  /** Formats the explanation as text, one line per level. */
  toString(): string
}

/** A middleware around a whole run. */
export interface AgentMiddleware extends MiddlewareBase {
  readonly level: 'agent'
  /**
   * Handles one run. Calls `callNext()` to run everything inside, or sets `context.result`. A response or text
   * that it returns counts as if it were assigned there, unless `callNext()` resolved to it.
   */
  process(
    context: AgentContext,
    callNext: CallNext<AgentResponse>,
  ): Returned<AgentResponse | AgentResponseInit | string>
}

/** A middleware of any level. */
export type Middleware = AgentMiddleware | ChatMiddleware | FunctionMiddleware

/** A middleware, or a list of them that may nest: a list is a feature with parts at several levels. */
export type MiddlewareInput = Middleware | readonly MiddlewareInput[]
