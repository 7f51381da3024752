export type {
  AnswerQuestion,
  ChatServiceOptions,
  FailureFacts,
  ServedRunOptions,
} from './chats/chat-options.ts'
export type {
  ChatAddress,
  ChatHistory,
  ChatService,
  ShownMessage,
} from './chats/chat-service.ts'
export { chatService } from './chats/chat-service.ts'
export type { Handler } from './chats/guarded-handler.ts'
export type { Principal } from './chats/principal.ts'
export type { ShownRequest } from './chats/shown.ts'
export type { NodeRequest, NodeResponse } from './node/to-node.ts'
export { toNode } from './node/to-node.ts'
export type {
  ClientContent,
  ClientOutcome,
  ClientRequest,
  ClientUpdate,
} from './updates/client-updates.ts'
export { clientContents, clientOutcome, clientUpdate } from './updates/client-updates.ts'
export type { ServerSentEventsOptions } from './updates/to-sse.ts'
export { toSSE } from './updates/to-sse.ts'
