export { filesIn, toFile } from './recorder/file-sink.ts'
export type { FileSink } from './recorder/file-sink.ts'
