export { restate } from './engines/restate-engine.ts'
export type { RestateOptions, RestateRequest } from './engines/restate-engine.ts'
