import type { ApprovalRequestContent, FunctionCallContent } from '../messages/content.ts'
import type { ApprovalSubject, FunctionInvocationContext, Tool } from './run.ts'

/** Reason and metadata of an approval request. */
export type ApprovalNote = Pick<ApprovalRequestContent, 'reason' | 'metadata'>

/** A tool call before it runs or waits for a person. */
export interface ApprovalQuestion extends ApprovalSubject {
  /** The tool that is called. */
  readonly tool: Tool
  /** The call as the model wrote it. */
  readonly call: FunctionCallContent
  /** True if the tool's policy or an outer middleware already requires approval. */
  readonly asks: boolean
}

/** Decides if a call waits for a person; a note becomes part of the request. */
export type ApprovalGate = (
  question: ApprovalQuestion,
) => boolean | ApprovalNote | Promise<boolean | ApprovalNote>

/**
 * Judges a call right before its tool runs, with the arguments that the tool gets. A value other
 * than `undefined` replaces the result of the tool.
 */
export type ExecutionGate = (context: FunctionInvocationContext) => unknown

/** Gates through which the tool calls of a run pass. */
export interface CallGate {
  /** Decides if a call waits for a person. */
  readonly approval?: ApprovalGate | undefined
  /** Judges a call right before its tool runs. */
  readonly execution?: ExecutionGate | undefined
}
