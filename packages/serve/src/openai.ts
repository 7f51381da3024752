export type { OpenAIHandlerOptions } from './openai/openai-handler.ts'
export { openAIHandler } from './openai/openai-handler.ts'
