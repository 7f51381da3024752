export { fileValidator } from './file-validator.ts'
export type {
  ContentOptions,
  FileEvent,
  FileValidatorOptions,
  PathOptions,
} from './file-options.ts'
export type { FileViolation } from './file-contents.ts'
export type { Dialect } from './path-escape.ts'
export type { FileSystem, PathViolation } from './resolve-path.ts'
