export type { Answers, DurableEngine } from './durable-engine.ts'
export { durable } from './durable.ts'
export type { DurableOptions } from './durable.ts'
export { runDurably } from './run-durably.ts'
