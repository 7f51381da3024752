import type { RunStatus, Usage } from '@lamella/core'
import type { exitOf } from '@lamella/core/authoring'

/** Amount of content in a recording. */
export type Capture = 'facts' | 'redacted' | 'full'

/** A level of the onion. */
export type Level = 'agent' | 'chat' | 'function'

/** A middleware, as a recording names it. */
export interface MiddlewareFacts {
  readonly name: string
  readonly role?: string | undefined
}

/** One part of a message, an update or a result. */
export interface PartFacts {
  readonly type: string
  /** Length in characters of the text, or of the JSON if the part has no text. */
  readonly len?: number | undefined
  /** The text, if it was captured. */
  readonly text?: string | undefined
  /** Set if `text` was cut off at `maxTextChars`. */
  readonly cut?: true | undefined
  /** Name of the tool or the file. */
  readonly name?: string | undefined
  /** Number of the function call in its run; its result has the same number. */
  readonly fn?: number | undefined
  /** Code of the error in a result. */
  readonly error?: string | undefined
  readonly mediaType?: string | undefined
  /** Size of a file. Its bytes are never written. */
  readonly bytes?: number | undefined
  /** Provider's index of a function call, with `capture: 'full'`. */
  readonly index?: number | undefined
  /** Inner parts, such as those of a tool result. */
  readonly parts?: readonly PartFacts[] | undefined
}

/** Text, or only its length. */
export type TextFacts = Pick<PartFacts, 'len' | 'text' | 'cut'>

/** Fields of all lines. */
interface LineFields {
  /** Milliseconds since the outermost run began. */
  readonly t: number
  /** Number of the run within the recording. */
  readonly r: number
}

/** A run began. */
export interface RunLine extends LineFields {
  readonly k: 'run'
  /** Version of the format. */
  readonly v: 1
  readonly id: string
  readonly agent?: string | undefined
  /** Time of day, in ISO 8601. */
  readonly at: string
  /** Run and call that started this one. */
  readonly parent?: { readonly r: number; readonly c?: number | undefined } | undefined
  readonly stream: boolean
  readonly capture: Capture
  /** Outermost level that is recorded. */
  readonly level: 'agent' | 'chat'
  readonly middleware: Readonly<Record<Level, readonly MiddlewareFacts[]>>
  readonly tools: readonly string[]
  readonly provider?: string | undefined
  /** Name of the client; that of its provider, unless it has one of its own. */
  readonly client?: string | undefined
  readonly model?: string | undefined
  /** True if nothing ran: the line describes an explanation and is in no file. */
  readonly plan?: PlanFacts | undefined
}

/** Facts of a run that `explain(agent)` describes. */
export interface PlanFacts {
  /** Messages of the input. */
  readonly input: number
  /** Messages of the session. */
  readonly history: number
  /** Maximum number of model calls that may lead to tool calls. */
  readonly modelCalls: number
  /** Maximum number of tool calls. Missing if there is no limit. */
  readonly toolCalls?: number | undefined
  readonly warnings: readonly string[]
}

/** A model call or a tool call was made. Call 0 is the run itself. */
export interface CallLine extends LineFields {
  readonly k: 'call'
  readonly c: number
  readonly type: 'run' | 'model' | 'tool'
  readonly iteration?: number | undefined
  readonly name?: string | undefined
  /** Number of the function call that it executes. */
  readonly fn?: number | undefined
}

/** A message that was seen for the first time. */
export interface MessageLine extends LineFields {
  readonly k: 'msg'
  readonly m: number
  readonly role: string
  readonly parts: readonly PartFacts[]
}

/** A tool that was offered to the model, with `capture: 'full'`. */
export interface ToolLine extends LineFields {
  readonly k: 'tool'
  readonly name: string
  readonly description?: string | undefined
  readonly parameters?: unknown
}

/** A list of messages: the first `same` ones of the list it is compared with, then these. */
export interface ListPatch {
  readonly same: number
  readonly rest: readonly number[]
}

/** A call entered a probe. Missing fields are unchanged since the next outer probe. */
export interface InLine extends LineFields {
  readonly k: 'in'
  readonly c: number
  /** Number of the probe: 0 is outside all middleware of its level. */
  readonly p: number
  /** Number of times that the call has entered this probe. Missing for the first time. */
  readonly n?: number | undefined
  readonly messages?: ListPatch | undefined
  /** `null` if they were removed. */
  readonly instructions?: TextFacts | null | undefined
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** Name of the client that was called, where it is another one than the run's. */
  readonly client?: string | undefined
  /** Arguments of a tool call. */
  readonly args?: TextFacts | undefined
}

/** A piece of a stream passed probes, from the innermost outward, without a wait in between. */
export interface UpdateLine extends LineFields {
  readonly k: 'up'
  readonly c: number
  /** Innermost probe that it passed. */
  readonly p: number
  /** Outermost probe that it passed. Missing if there was one only. */
  readonly to?: number | undefined
  /** Outermost probe of the run itself that it passed as well. */
  readonly run?: number | undefined
  /** Text of an update of the assistant that has only text. */
  readonly text?: string | undefined
  /** Length of that text, if it was not captured. */
  readonly len?: number | undefined
  readonly parts?: readonly PartFacts[] | undefined
  /** Role, if it is not the assistant's. */
  readonly role?: string | undefined
  readonly finish?: string | undefined
  readonly usage?: Usage | undefined
  /** Discards the earlier updates of the model call, or of the run. */
  readonly restart?: 'call' | 'run' | undefined
}

/** The updates of a call start over at a probe: earlier ones are discarded. */
export interface AgainLine extends LineFields {
  readonly k: 'again'
  readonly c: number
  readonly p: number
}

/** A call left a probe. */
export interface OutLine extends LineFields {
  readonly k: 'out'
  readonly c: number
  readonly p: number
  readonly n?: number | undefined
  /** Kind of exit, if it did not return. */
  readonly exit?: ReturnType<typeof exitOf> | undefined
  /** Type of the error. Its message is never written unless content is. */
  readonly error?: string | undefined
  readonly message?: TextFacts | undefined
  readonly status?: number | undefined
  readonly retryable?: boolean | undefined
  readonly finish?: string | undefined
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  /** In the currency of the price table. */
  readonly cost?: number | undefined
  /** Messages of the result, if they differ from those at the next inner probe. */
  readonly messages?: readonly number[] | undefined
  /** Result of a tool call, if it differs from that at the next inner probe. */
  readonly result?: readonly PartFacts[] | undefined
}

/** An event of a middleware or the application. */
export interface EventLine extends LineFields {
  readonly k: 'event'
  readonly type: string
  readonly facts?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** A run ended. */
export interface EndLine extends LineFields {
  readonly k: 'end'
  readonly status: RunStatus | ReturnType<typeof exitOf>
  readonly usage: Usage
  readonly cost?: number | undefined
  readonly attempts?: number | undefined
  readonly block?: Readonly<Record<string, string>> | undefined
  readonly reason?: TextFacts | undefined
  /** Type of the error that the run failed with. */
  readonly error?: string | undefined
  /** Number of lines that were omitted at `maxBytes`, or could not be written. */
  readonly dropped?: number | undefined
}

/** A line of a recording. Readers skip lines of unknown kinds. */
export type Line =
  | RunLine
  | CallLine
  | MessageLine
  | ToolLine
  | InLine
  | UpdateLine
  | AgainLine
  | OutLine
  | EventLine
  | EndLine
