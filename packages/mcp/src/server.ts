export { agentServer } from './agent-server.ts'
export type { AgentServerOptions, AgentServerRequest } from './agent-server.ts'
