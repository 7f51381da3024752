export { sseHandler } from './sse/sse-handler.ts'
export { requestsHandler } from './sse/requests-handler.ts'
