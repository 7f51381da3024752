import type { OptionRules } from '../base/check-options.ts'
import { chatOptionNames } from '../contract/chat-option-names.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import type { ChatClient } from '../contract/chat.ts'
import type { RunEvent } from '../contract/events.ts'
import type { FunctionInvocationConfiguration } from '../contract/limits.ts'
import type { MiddlewareInput } from '../contract/agent.ts'
import type { Checkpoint } from '../contract/outcome.ts'
import type { RunContext, ToolDefinition } from '../contract/run.ts'
import { loopSettingNames } from '../loop/limits.ts'
import type { Session, SessionReference } from '../messages/session.ts'
import type { CheckpointSigner, SigningKey } from '../run/checkpoint-signer.ts'
import type { RunControl } from '../run/run-control.ts'
import type { KeyValueStore } from '../store/store.ts'

/** Options of `new Agent`. */
export interface AgentOptions {
  /** Client that model calls go to. */
  readonly client: ChatClient
  /** Name of the agent, for logs, spans and other agents. @default none */
  readonly name?: string | undefined
  /** Description of the agent, for other agents. @default none */
  readonly description?: string | undefined
  /** System instructions of every run. @default none */
  readonly instructions?: string | undefined
  /** Tools of every run. @default [] */
  readonly tools?: readonly ToolDefinition[] | undefined
  /**
   * Middleware of all levels, outermost first. It runs inside the client's and outside a run's.
   * @default []
   */
  readonly middleware?: MiddlewareInput | undefined
  /** Model options of every run. A run's own options override them. @default {} */
  readonly options?: ChatOptions | undefined
  /** Settings and limits of the tool loop. @default {} */
  readonly functionInvocation?: FunctionInvocationConfiguration | undefined
  /**
   * Result of a run that a guardrail blocks: `return` resolves with status `blocked`, `throw`
   * rejects.
   * @default 'return'
   */
  readonly onBlock?: 'return' | 'throw' | undefined
  /**
   * Text that replaces a blocked answer, unless the guardrail sets its own.
   * @default 'I cannot help with this request.'
   */
  readonly blockMessage?: string | undefined
  /**
   * Text that replaces a final answer made of tool calls that cannot run.
   * @default 'I could not finish this with the tools at hand.'
   */
  readonly fallbackText?: string | undefined
  /**
   * Store of all data that outlives a run: state of scope `tenant`, and the data of every
   * middleware whose own `store` option is not set. With `sqliteStore()`, processes of one machine
   * share it; with `redisStore()` or `postgresStore()`, machines do. An agent that a tool runs uses
   * its caller's by default.
   * @default none: middleware keeps its data in this process, and state of scope `tenant` throws
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds to wait for an answer of the store to state of scope `tenant`; then it rejects with
   * `store_timeout`. Middleware has a `storeTimeoutMs` of its own.
   * @default 5000
   */
  readonly storeTimeoutMs?: number | undefined
  /**
   * Key of 16 bytes or more that signs checkpoints, or a list: the first signs, all verify. A checkpoint that
   * was changed, or that none of the keys has signed, is rejected with `checkpoint_invalid` before anything runs.
   * @default none: a checksum, which detects damage but not forgery
   */
  readonly sign?: SigningKey | readonly SigningKey[] | CheckpointSigner | undefined
  /**
   * Clock of every run: times and waits of core come from it, and those of middleware that reads
   * `context.run.clock`. Without `sleep` it waits with timers of the platform.
   * @default the clock of the machine
   */
  readonly clock?: AgentClock | undefined
  /**
   * Returns random numbers from 0 to below 1. All ids of a run come from it, also those that grant
   * something, so they are only as hard to guess as its numbers: for tests, not for production.
   * @default random numbers of the platform; ids that grant something are unguessable
   */
  readonly random?: (() => number) | undefined
}

/** A clock without a need to wait. */
export interface AgentClock {
  /** Returns the time in milliseconds since 1970. */
  now(): number
  /** Waits for `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep?(ms: number, signal?: AbortSignal, isLimit?: boolean): Promise<void>
}

/** Options of `agent.run` and `agent.resume`. */
export interface RunOptions<Data = unknown> {
  /**
   * Session to continue and to update when the run ends. With a reference, `sessions(store).at(id)`, the run
   * loads the session when it begins and saves it when it ends. Runs of one session in this process follow each
   * other; a run inside of another one needs `parent`.
   * @default none: the run has no history
   */
  readonly session?: Session | SessionReference | undefined
  /**
   * Milliseconds to wait for other runs of the session; then the run rejects with `session_busy`.
   * @default 60_000
   */
  readonly sessionWaitMs?: number | undefined
  /** Aborts the run with its model calls and tool calls. @default none */
  readonly signal?: AbortSignal | undefined
  /**
   * Answers to pending requests of the session or an earlier run of this agent: by the id of an
   * approval request, by the call id of a declared tool, or by the id of an interrupt of the session,
   * whose run continues and takes no input. Check their sender before you pass ids and answers from a request body.
   * @default {}
   */
  readonly answers?: Readonly<Record<string, unknown>> | undefined
  /**
   * Names one piece of work, as payment interfaces mean it, for this agent, `tenant` and `principal`: while a run
   * with the key lives, another one is refused with `run_active`; after its end, for a day, it gets the same ending; after
   * a failure, or the death of the process, it continues from the last step. The agent's store, else that of the
   * session, keeps a lease of 30 seconds, each step and the ending; without a store, the process does.
   * @default none: the run stands for itself
   */
  readonly idempotencyKey?: string | undefined
  /** Tools of this run, in addition to the agent's. @default [] */
  readonly tools?: readonly ToolDefinition[] | undefined
  /**
   * Finds a tool that a resumed run had added before its pause, unless the agent or `tools` has it. A run that misses
   * one rejects with `unknown_tool`, and its requests stay open.
   * @default none
   */
  readonly findTool?: ((name: string) => ToolDefinition | undefined) | undefined
  /** Middleware of this run, inside the agent's. @default [] */
  readonly middleware?: MiddlewareInput | undefined
  /** Instructions of this run, appended to the agent's. @default none */
  readonly instructions?: string | undefined
  /**
   * Model options of this run. They override the agent's, see `mergeChatOptions`.
   * @default the agent's
   */
  readonly options?: ChatOptions | undefined
  /**
   * Settings of the tool loop for this run. They override the agent's one by one.
   * @default the agent's
   */
  readonly functionInvocation?: FunctionInvocationConfiguration | undefined
  /**
   * Result of a run that a guardrail blocks: `return` resolves with status `blocked`, `throw`
   * rejects.
   * @default the agent's
   */
  readonly onBlock?: 'return' | 'throw' | undefined
  /**
   * Tenant that the run belongs to, for limits, budgets, caches and state.
   * @default the parent run's
   */
  readonly tenant?: string | undefined
  /**
   * User that the run belongs to. What middleware keeps for a user, it keeps for this one.
   * @default the parent run's
   */
  readonly principal?: string | undefined
  /**
   * Any value for middleware and tools of this run, such as a user or a database. Never shown to a
   * model.
   * @default none
   */
  readonly data?: Data | undefined
  /** Id of the run. @default a new id */
  readonly runId?: string | undefined
  /** Run whose tool starts this one. @default none */
  readonly parent?: RunContext | undefined
  /**
   * Receives a checkpoint after each step (a model response with tool calls, a tool result, a
   * finished iteration), so that `resume(checkpoint, {})` can continue the run after a crash. The
   * run awaits it, and fails if it fails. Each checkpoint holds a copy of the whole conversation.
   * @default none
   */
  readonly onCheckpoint?: ((checkpoint: Checkpoint) => void | Promise<void>) | undefined
  /**
   * Keeps a part of a run that failed, was aborted or blocked, or exhausted its budget in the session.
   * `effects`: if a tool that is not `readOnly` ran, the input and the tool rounds. `all`: also what was said
   * and read, each message with `metadata.partial`; content that a guardrail has blocked or not judged is never
   * kept. `nothing`: the session does not change.
   * @default 'effects'
   */
  readonly keep?: 'effects' | 'all' | 'nothing' | undefined
  /** Cancels the run and the runs that it starts, at once or at a safe point. @default none */
  readonly control?: RunControl | undefined
  /** Receives each event of the run, streamed or not. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /**
   * Answers a `run.request` of a middleware or tool; `undefined` leaves it to `stream.respond`.
   * @default none
   */
  readonly onRequest?: ((event: RunEvent & { readonly id: string }) => unknown) | undefined
}

/** Rules of the options of `new Agent`. */
export const agentRules: OptionRules<AgentOptions> = {
  client: 'any',
  name: 'any',
  description: 'any',
  instructions: 'any',
  tools: 'any',
  middleware: 'any',
  options: 'any',
  functionInvocation: 'any',
  onBlock: ['return', 'throw'],
  blockMessage: 'any',
  fallbackText: 'any',
  store: 'any',
  storeTimeoutMs: 'ms',
  sign: 'any',
  clock: 'any',
  random: 'function?',
}
// An object, so that the compiler misses an option that is left out.
const ofRun: { readonly [Name in keyof Required<RunOptions>]: 1 } = {
  session: 1,
  sessionWaitMs: 1,
  signal: 1,
  answers: 1,
  idempotencyKey: 1,
  tools: 1,
  findTool: 1,
  middleware: 1,
  instructions: 1,
  options: 1,
  functionInvocation: 1,
  onBlock: 1,
  tenant: 1,
  principal: 1,
  data: 1,
  runId: 1,
  parent: 1,
  onCheckpoint: 1,
  keep: 1,
  control: 1,
  onEvent: 1,
  onRequest: 1,
}

/** Names of the options of `run` and `resume`. */
export const runOptionNames: readonly string[] = [...Object.keys(ofRun), 'stream']

/** Hints for options of model calls and of the tool loop that were passed as run or agent options. */
export const hintsElsewhere: Readonly<Record<string, string>> = {
  ...belongIn('{ options: { % } }', chatOptionNames),
  ...belongIn('{ functionInvocation: { % } }', loopSettingNames),
  model:
    'the client has the model: `{ client: new OpenAIChatClient({ model }) }`; for some calls `{ options: { model } }`',
}

/** The same for `new Agent`, and hints for options of a run. The last three are of an agent that is copied. */
export const agentHints: Readonly<Record<string, string>> = {
  ...belongIn('agent.run(input, { % })', runOptionNames),
  ...hintsElsewhere,
  settings: '',
  composed: '',
  approvals: '',
}

function belongIn(place: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.map((name) => [name, `it belongs in \`${place.replace('%', name)}\``]),
  )
}
