export { sseHandler } from './sse/sse-handler.ts'
