export type { McpClient } from './connection/mcp-client.ts'
export type { McpEvent } from './base/mcp-event.ts'
export type { McpElicitation, McpElicitationAnswer, McpSampling } from './base/mcp-questions.ts'
export { mcpElicitation, mcpSampling } from './base/mcp-questions.ts'
export type {
  McpCustomServer,
  McpHttpServer,
  McpProtocol,
  McpServer,
} from './connection/mcp-server.ts'
export { mcpTools } from './mcp-tools.ts'
export type { McpReadOptions, McpTools } from './mcp-tools.ts'
export type { McpToolsOptions } from './mcp-tools-options.ts'
export type { McpProgress } from './base/progress.ts'
export type { McpPrompt, McpPromptArgument, McpResource } from './contents/prompt-messages.ts'
export type { McpSamplingOptions } from './contents/sample.ts'
