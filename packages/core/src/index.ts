export { Agent } from './agent.ts'
export type { AgentOptions, RunOptions } from './agent.ts'
export type { AgentContext } from './agent-context.ts'
export type {
  AgentResponse,
  AgentResponseInit,
  AgentResponseUpdate,
  Attempt,
  PendingRequest,
  RunStatus,
} from './agent-response.ts'
export type { AgentToolOptions } from './agent-tool.ts'
export { BaseChatClient } from './base-chat-client.ts'
export type { ChatClientOptions } from './base-chat-client.ts'
export type {
  ChatClient,
  ChatRequest,
  ContinuationReport,
  GetResponseOptions,
} from './chat-client.ts'
export type { ChatContext } from './chat-context.ts'
export type { ChatOptions, LoopState, ResponseFormat, ToolChoice } from './chat-options.ts'
export { chatResponse, toUpdates } from './chat-response.ts'
export type {
  ChatResponse,
  ChatResponseInit,
  ChatResponseUpdate,
  FinishReason,
} from './chat-response.ts'
export type { CheckContext, GuardedContext } from './check-scope.ts'
export type { Checkpoint } from './checkpoint.ts'
export type {
  Annotation,
  ApprovalRequestContent,
  ApprovalResponseContent,
  Content,
  ContentFields,
  DataContent,
  ErrorContent,
  FunctionCallContent,
  FunctionError,
  FunctionResultContent,
  HostedContent,
  Origin,
  ReasoningContent,
  RefusalContent,
  TextContent,
  UriContent,
  UsageContent,
} from './content.ts'
export { text, textOf } from './content.ts'
export { MiddlewareContractError } from './contract-error.ts'
export { createId, createSecretId } from './create-id.ts'
export type { Explanation } from './explain.ts'
export type { FunctionInvocationContext } from './function-context.ts'
export type { FunctionInvocationConfiguration } from './function-invocation.ts'
export { errorResult, toFunctionResult } from './function-result.ts'
export type { FunctionResult } from './function-result.ts'
export type { GuardEvent, GuardOptions } from './guard.ts'
export { guardrail } from './guardrail.ts'
export type { GuardrailLayer, GuardrailOptions, GuardrailStreamOptions } from './guardrail.ts'
export type { Finding, GuardedPart, ReleasePolicy, ScanOptions, ScanWindow } from './held-text.ts'
export { holdBackGate, strictest } from './hold-back-gate.ts'
export type { HoldBackOptions } from './hold-back-gate.ts'
export { LamellaError } from './lamella-error.ts'
export type { ErrorCode, LamellaErrorOptions } from './lamella-error.ts'
export { message, messageText, toMessages } from './message.ts'
export type { Message, MessageInit, MessageInput, Role } from './message.ts'
export { agentMiddleware, chatMiddleware, functionMiddleware } from './middleware.ts'
export type {
  AgentMiddleware,
  CallNext,
  ChatMiddleware,
  ClientMiddlewareInput,
  FunctionMiddleware,
  Middleware,
  MiddlewareInput,
} from './middleware.ts'
export { normalizeResponse } from './normalize-response.ts'
export { isProviderError, ProviderError } from './provider-error.ts'
export type { ProviderErrorKind, ProviderErrorOptions, RetryAdvice } from './provider-error.ts'
export { foldUpdates } from './response-fold.ts'
export { ResponseStream } from './response-stream.ts'
export type { RunContext, RunMessages, RunTools } from './run-context.ts'
export type { RunEvent, RunEventInit, RunRequestInit } from './run-events.ts'
export { outcomeOf } from './run-outcome.ts'
export type { FailedOutcome } from './run-outcome.ts'
export { defineEvent } from './define-event.ts'
export type { EventDefinition, EventOptions } from './define-event.ts'
export { defineState } from './define-state.ts'
export type { StateCell, StateOptions } from './define-state.ts'
export { lifecycle } from './lifecycle.ts'
export type { Lifecycle } from './lifecycle.ts'
export { LifecycleError } from './lifecycle-failures.ts'
export type {
  ErrorSource,
  FunctionHookContext,
  LifecycleFailure,
  LifecycleHooks,
} from './lifecycle-hooks.ts'
export type { BatchContext, IterationContext } from './loop-seams.ts'
export { RunControl } from './run-control.ts'
export type { CancelMode, CancelOptions } from './run-control.ts'
export type { RunState } from './run-state.ts'
export type { FunctionRequest, ModelRequest } from './wrapped-request.ts'
export type { RunToolsSnapshot } from './run-tools.ts'
export { createSession, forkSession } from './session.ts'
export type { Session, SessionSnapshot } from './session.ts'
export type {
  InferSchema,
  JsonSchema,
  Schema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './standard-schema.ts'
export { isStandardSchema, toJsonSchema } from './standard-schema.ts'
export { memoryStore, sessionStore } from './store.ts'
export type {
  KeyValueStore,
  KeyvLike,
  MemoryStoreOptions,
  SessionStore,
  SessionStoreOptions,
  WriteOptions,
} from './store.ts'
export type { StreamOutcome } from './stream-outcome.ts'
export type { Finalizer, StreamFold, StreamSource } from './stream-source.ts'
export type { TextOptions } from './stream-views.ts'
export { parseValue } from './structured-output.ts'
export {
  BudgetExhausted,
  GuardrailTripped,
  isTermination,
  MiddlewareTermination,
} from './termination.ts'
export type { Block, TerminationOptions } from './termination.ts'
export { hostedTool, tool } from './tool.ts'
export type {
  ApprovalPolicy,
  ApprovalSubject,
  HostedTool,
  Tool,
  ToolDefinition,
  ToolOptions,
} from './tool.ts'
export { toolSearch } from './tool-search.ts'
export type { ToolSearchOptions } from './tool-search.ts'
export { isToolError, ToolError } from './tool-error.ts'
export type { TransformController, UpdateTransformer } from './update-transformer.ts'
export { addUsage } from './usage.ts'
export type { Usage } from './usage.ts'
export { formatIssues, validate } from './validate.ts'
export type {
  GuardStage,
  GuardStatus,
  GuardSubject,
  Verdict,
  VerdictSpan,
} from './verdict.ts'
export { visibleHistory } from './visible-history.ts'
export { withMiddleware } from './with-middleware.ts'
