export { answerDbos, dbos, requestsOfDbos } from './dbos.ts'
export type { DbosMessages, DbosOptions } from './dbos.ts'
