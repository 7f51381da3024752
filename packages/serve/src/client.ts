export type { ChatEvent, ChatPart } from './reader/answer-fold.ts'
export type {
  ChatMessage,
  ChatReader,
  ChatReaderOptions,
  ChatRequest,
  ChatState,
} from './reader/chat-reader.ts'
export { chatReader } from './reader/chat-reader.ts'
