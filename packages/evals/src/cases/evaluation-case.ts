import type { MessageInput } from '@lamella/core'

/** Result of a tool call that was recorded, for `replayedTools()`. */
export interface RecordedToolResult {
  /** Name of the tool. */
  readonly name: string
  /** Arguments of the call. @default any: the result is of the next call that no other one matches */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined
  /** Result of the call, as the tool returns it. */
  readonly result?: unknown
  /** Text of the error with which the call failed. @default none */
  readonly error?: string | undefined
}

/** One conversation that an agent is evaluated on. All fields are JSON, so that a line of a file is a case. */
export interface EvaluationCase {
  /** Name of the case, unique in its evaluation. */
  readonly id: string
  /** First input: text of the user, or messages with a history. */
  readonly input: MessageInput
  /** Further inputs of a scripted user, one for each turn. @default none */
  readonly turns?: readonly MessageInput[] | undefined
  /** Goal of a user that a model plays after the scripted turns, see `modelUser`. @default none */
  readonly goal?: string | undefined
  /** Anything that checks and scores compare with, such as the expected answer. @default none */
  readonly expected?: unknown
  /** Words to select cases by. @default [] */
  readonly tags?: readonly string[] | undefined
  /** Results of tools, for `replayedTools()`. @default [] */
  readonly toolResults?: readonly RecordedToolResult[] | undefined
}

/** Cases of an evaluation, read one after another. */
export type CaseSource = Iterable<EvaluationCase> | AsyncIterable<EvaluationCase>
