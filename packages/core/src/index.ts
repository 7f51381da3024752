export type { AgentClock, AgentOptions, RunOptions } from './agent/agent-options.ts'
export { agentTool } from './agent/agent-tool.ts'
export { Agent } from './agent/agent.ts'
export { explain } from './agent/explain.ts'
export { withFunctionInvocation } from './agent/function-invocation.ts'
export { createId } from './base/create-id.ts'
export { jsonSchema } from './base/json-schema.ts'
export { LamellaError } from './base/lamella-error.ts'
export type { InferSchema, JsonSchema, Schema } from './base/standard-schema.ts'
export type {
  AgentContext,
  AgentInfo,
  AgentMiddleware,
  Explanation,
  Middleware,
  MiddlewareInput,
} from './contract/agent.ts'
export type { ChatOptions, ResponseFormat, ToolChoice } from './contract/chat-options.ts'
export type {
  ChatClient,
  ChatContext,
  ChatMiddleware,
  ChatRequest,
  GetResponseOptions,
} from './contract/chat.ts'
export { MiddlewareContractError } from './contract/contract-error.ts'
export type { RunEvent } from './contract/events.ts'
export type { FunctionInvocationConfiguration } from './contract/limits.ts'
export { agentMiddleware, chatMiddleware, functionMiddleware } from './contract/middleware.ts'
export type { ClientMiddlewareInput } from './contract/middleware.ts'
export type {
  AgentResponse,
  AgentResponseUpdate,
  Checkpoint,
  PendingRequest,
  RunStatus,
} from './contract/outcome.ts'
export { ProviderError, isProviderError } from './contract/provider-error.ts'
export type { ProviderErrorKind } from './contract/provider-error.ts'
export type {
  ApprovalPolicy,
  FunctionInvocationContext,
  FunctionMiddleware,
  RunContext,
  Tool,
  ToolDefinition,
} from './contract/run.ts'
export type { StateCell } from './contract/state.ts'
export {
  BudgetExhausted,
  GuardrailTripped,
  MiddlewareTermination,
  isTermination,
} from './contract/termination.ts'
export type { Block } from './contract/termination.ts'
export { ToolError, isToolError } from './contract/tool-error.ts'
export { hostedTool, tool } from './contract/tool.ts'
export type { ToolOptions } from './contract/tool.ts'
export { toolSearch } from './loop/tool-search.ts'
export { chatResponse, toUpdates } from './messages/chat-response.ts'
export type { ChatResponse, ChatResponseUpdate, FinishReason } from './messages/chat-response.ts'
export { text, textOf } from './messages/content.ts'
export type {
  Content,
  DataContent,
  FunctionCallContent,
  FunctionResultContent,
  HostedContent,
  ReasoningContent,
  TextContent,
  UriContent,
} from './messages/content.ts'
export { errorResult } from './messages/function-result.ts'
export type { FunctionResult } from './messages/function-result.ts'
export { message, messageText } from './messages/message.ts'
export type { Message, MessageInit, MessageInput, Role } from './messages/message.ts'
export { foldUpdates } from './messages/response-fold.ts'
export { createSession, forkSession } from './messages/session.ts'
export type { Session, SessionSnapshot } from './messages/session.ts'
export { addUsage } from './messages/usage.ts'
export type { Usage } from './messages/usage.ts'
export { userInput } from './messages/user-input.ts'
export type { UserInputOptions } from './messages/user-input.ts'
export { visibleHistory } from './messages/visible-history.ts'
export { checkpointState } from './pausing/checkpoint.ts'
export { BaseChatClient } from './pipeline/base-chat-client.ts'
export { parseValue } from './pipeline/structured-output.ts'
export { withMiddleware } from './pipeline/with-middleware.ts'
export { outcomeOf } from './run/failed-outcome.ts'
export { defineEvent } from './run/define-event.ts'
export { RunControl } from './run/run-control.ts'
export type { CancelMode } from './run/run-control.ts'
export { defineState } from './run/state.ts'
export { memoryStore } from './store/store.ts'
export type { KeyValueStore, Store, WriteOptions } from './store/store.ts'
export { toReadableStream } from './stream/readable-stream.ts'
export { ResponseStream } from './stream/response-stream.ts'
export { tee } from './stream/tee.ts'
export type { UpdateTransformer } from './stream/update-transformer.ts'
