export type { McpClient } from './mcp-client.ts'
export type { McpEvent } from './mcp-event.ts'
export type { McpElicitation, McpElicitationAnswer, McpSampling } from './mcp-questions.ts'
export { mcpElicitation, mcpSampling } from './mcp-questions.ts'
export type {
  McpCustomServer,
  McpHttpServer,
  McpProtocol,
  McpServer,
} from './mcp-server.ts'
export { mcpTools } from './mcp-tools.ts'
export type { McpReadOptions, McpTools } from './mcp-tools.ts'
export type { McpToolsOptions } from './mcp-tools-options.ts'
export type { McpProgress } from './progress.ts'
export type { McpPrompt, McpPromptArgument, McpResource } from './prompt-messages.ts'
export type { McpSamplingOptions } from './sample.ts'
