export { Agent } from './agent/agent.ts'
export type { AgentClock, AgentOptions, RunOptions } from './agent/agent-options.ts'
export type { AgentContext, AgentInfo } from './contract/agent.ts'
export type {
  AgentResponse,
  AgentResponseInit,
  AgentResponseUpdate,
  Attempt,
  PendingRequest,
  RunStatus,
  Stop,
} from './contract/outcome.ts'
export { agentPipeline } from './agent/agent-pipeline.ts'
export type {
  AddMessages,
  AgentAnswer,
  AgentHandler,
  AgentPipeline,
  AgentPipelineInput,
} from './agent/agent-pipeline.ts'
export { withFunctionInvocation } from './agent/function-invocation.ts'
export type { FunctionInvokingClient, InvocationOptions } from './agent/function-invocation.ts'
export { functionPipeline } from './loop/function-pipeline.ts'
export type {
  FunctionHandler,
  FunctionPipeline,
  FunctionPipelineInput,
} from './loop/function-pipeline.ts'
export { chatPipeline } from './pipeline/chat-pipeline.ts'
export type {
  ChatAnswer,
  ChatHandler,
  ChatPipeline,
  ChatPipelineInput,
} from './pipeline/chat-pipeline.ts'
export type { Nested } from './pipeline/sort-middleware.ts'
export { agentTool } from './agent/agent-tool.ts'
export type { AgentToolOptions } from './agent/agent-tool.ts'
export { explain } from './agent/explain.ts'
export { BaseChatClient } from './pipeline/base-chat-client.ts'
export type { ChatClientOptions } from './pipeline/base-chat-client.ts'
export type {
  ChatClient,
  ChatRequest,
  ContinuationReport,
  GetResponseOptions,
} from './contract/chat.ts'
export type { ChatContext } from './contract/chat.ts'
export type {
  ChatOptions,
  FormatOption,
  LoopState,
  ResponseFormat,
  ToolChoice,
} from './contract/chat-options.ts'
export { chatResponse, toUpdates } from './messages/chat-response.ts'
export type {
  ChatResponse,
  ChatResponseInit,
  ChatResponseUpdate,
  FinishReason,
} from './messages/chat-response.ts'
export type {
  Checkpoint,
  CheckpointState,
  Decision,
  JournalStep,
} from './contract/outcome.ts'
export { checkpointState } from './pausing/checkpoint.ts'
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
} from './messages/content.ts'
export { text, textOf } from './messages/content.ts'
export { MiddlewareContractError } from './contract/contract-error.ts'
export { createId, createSecretId } from './base/create-id.ts'
export type { Explanation } from './contract/agent.ts'
export type { FunctionInvocationContext } from './contract/run.ts'
export type { FunctionInvocationConfiguration } from './contract/limits.ts'
export { errorResult, toFunctionResult } from './messages/function-result.ts'
export type { FunctionResult } from './messages/function-result.ts'
export { LamellaError } from './base/lamella-error.ts'
export type { ErrorCode, LamellaErrorOptions } from './base/lamella-error.ts'
export { message, messageText, toMessages } from './messages/message.ts'
export type { Message, MessageInit, MessageInput, Role } from './messages/message.ts'
export { agentMiddleware, chatMiddleware, functionMiddleware } from './contract/middleware.ts'
export type { AgentMiddleware } from './contract/agent.ts'
export type { CallNext, FunctionMiddleware } from './contract/run.ts'
export type { ChatMiddleware } from './contract/chat.ts'
export type { Middleware, MiddlewareInput } from './contract/agent.ts'
export type { ClientMiddlewareInput } from './contract/middleware.ts'
export { normalizeResponse } from './messages/normalize-response.ts'
export { isProviderError, ProviderError } from './contract/provider-error.ts'
export type {
  ProviderErrorKind,
  ProviderErrorOptions,
  RetryAdvice,
} from './contract/provider-error.ts'
export { foldUpdates } from './messages/response-fold.ts'
export { ResponseStream } from './stream/response-stream.ts'
export type { RunContext, RunMessages, RunTools } from './contract/run.ts'
export type { RunEvent, RunEventInit, RunRequestInit } from './contract/events.ts'
export type { CheckpointSigner, SigningKey } from './run/checkpoint-signer.ts'
export { outcomeOf } from './run/failed-outcome.ts'
export type { FailedOutcome } from './run/failed-outcome.ts'
export { defineEvent } from './run/requests.ts'
export type { EventDefinition, EventOptions } from './run/requests.ts'
export { defineState } from './run/state.ts'
export type { StateCell, StateOptions } from './contract/state.ts'
export type { BatchContext, IterationContext } from './contract/interceptors.ts'
export { RunControl } from './run/run-control.ts'
export type { CancelMode, CancelOptions } from './run/run-control.ts'
export type { RunState } from './contract/state.ts'
export type { RunToolsSnapshot } from './contract/outcome.ts'
export { createSession, forkSession } from './messages/session.ts'
export type {
  Session,
  SessionEntry,
  SessionReference,
  SessionSnapshot,
  SessionTurn,
} from './messages/session.ts'
export type {
  InferSchema,
  JsonSchema,
  Schema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from './base/standard-schema.ts'
export { isStandardSchema, toJsonSchema } from './base/standard-schema.ts'
export { memoryStore } from './store/store.ts'
export type {
  KeyValueStore,
  MemoryStoreOptions,
  Store,
  WriteOptions,
} from './store/store.ts'
export type {
  LimitClaim,
  LimitGrant,
  LimitRestriction,
  LimitSettlement,
  StoreLimits,
} from './store/store-limits.ts'
export type { ListAddOptions, ListItem, ListRangeOptions, StoreLists } from './store/store-lists.ts'
export type { StreamOutcome } from './stream/stream-outcome.ts'
export type { Finalizer, StreamFold, StreamSource } from './stream/stream-source.ts'
export { tee } from './stream/tee.ts'
export type { TextOptions } from './stream/text-pieces.ts'
export { toReadableStream } from './stream/readable-stream.ts'
export { parseValue } from './pipeline/structured-output.ts'
export {
  BudgetExhausted,
  GuardrailTripped,
  isTermination,
  MiddlewareTermination,
} from './contract/termination.ts'
export type { Block, TerminationOptions } from './contract/termination.ts'
export { hostedTool, tool } from './contract/tool.ts'
export type {
  ApprovalPolicy,
  ApprovalSubject,
  HostedTool,
  Tool,
  ToolDefinition,
} from './contract/run.ts'
export type { ToolOptions } from './contract/tool.ts'
export { toolSearch } from './loop/tool-search.ts'
export type { ToolSearchOptions } from './loop/tool-search.ts'
export { isToolError, ToolError } from './contract/tool-error.ts'
export type { TransformController, UpdateTransformer } from './stream/update-transformer.ts'
export { userInput } from './messages/user-input.ts'
export type { UserInputOptions } from './messages/user-input.ts'
export { addUsage } from './messages/usage.ts'
export type { Usage } from './messages/usage.ts'
export { formatIssues, validate } from './base/validate.ts'
export { visibleHistory } from './messages/visible-history.ts'
export { withMiddleware } from './pipeline/with-middleware.ts'
