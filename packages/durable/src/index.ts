export type { Answers, DurableEngine } from './steps/durable-engine.ts'
export { durable } from './steps/durable.ts'
export type { DurableOptions } from './steps/durable.ts'
export { runDurably } from './run/run-durably.ts'
export { storedUpdates } from './updates/stored-updates.ts'
export type {
  ReadUpdatesOptions,
  StoredUpdates,
  StoredUpdatesOptions,
} from './updates/stored-updates.ts'
