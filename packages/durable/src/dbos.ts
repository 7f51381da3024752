export { answerDbos, dbos, requestsOfDbos } from './engines/dbos-engine.ts'
export type { DbosMessages, DbosOptions } from './engines/dbos-engine.ts'
