export { startModelServer } from './model-server/model-server.ts'
export type { ModelServer } from './model-server/model-server.ts'
export type { ModelServerOptions } from './model-server/model-server-options.ts'
export type {
  ModelAnswer,
  ModelCall,
  ModelConversation,
  ModelTurn,
  ModelUsage,
  OfferedTool,
} from './model-server/model-conversation.ts'
export type { ModelServerFailure } from './model-server/model-server-failure.ts'
export type { ModelServerRequest } from './model-server/model-server-request.ts'
export { scenarioServer } from './model-server/scenario-server.ts'
export { completionsContract } from './model-server/completions-contract.ts'
export { messagesContract } from './model-server/messages-contract.ts'
export type { WireContractOptions } from './model-server/wire-contract.ts'
