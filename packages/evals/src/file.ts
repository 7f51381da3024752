export { readRecords } from './command/record-file.ts'
