export { readLines, readTexts } from './command/read-lines.ts'
export { readRecords } from './command/record-file.ts'
