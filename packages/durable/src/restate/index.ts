export { restate } from './restate.ts'
export type { RestateOptions, RestateRequest } from './restate.ts'
