export type { UiStreamOptions } from './ui-stream/ui-stream-handler.ts'
export { uiStreamHandler } from './ui-stream/ui-stream-handler.ts'
