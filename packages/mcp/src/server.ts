export { agentServer } from './serve/agent-server.ts'
export type { AgentServerOptions, AgentServerRequest } from './serve/agent-server.ts'
