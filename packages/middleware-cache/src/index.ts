export { cache } from './calls/cache.ts'
export { calibrateThreshold } from './semantic/calibrate-threshold.ts'
export type {
  Calibration,
  CalibrationOptions,
  QuestionPair,
} from './semantic/calibrate-threshold.ts'
export type { CacheEvent } from './calls/cache-event.ts'
export type { CacheControl, CacheInfo, CacheMode, CacheOptions } from './calls/cache-options.ts'
export type { CacheScope } from './keys/cache-scope.ts'
export type { SingleFlightOptions } from './entries/cached-calls.ts'
export type { CacheCodec } from './entries/entry-store.ts'
export type { CacheAllowance } from './keys/keepable.ts'
export { keyvStore } from './entries/keyv-store.ts'
export type { KeyvLike } from './entries/keyv-like.ts'
export type { CacheRequest } from './keys/request-key.ts'
export { promptCacheDoctor } from './prompt/prompt-cache-doctor.ts'
export type { PromptCacheDoctorOptions, PromptCacheEvent } from './prompt/prompt-cache-doctor.ts'
export { sameFacts } from './semantic/same-facts.ts'
export type { SemanticOptions, SimilarQuestion } from './semantic/semantic-options.ts'
export { toolCache } from './calls/tool-cache.ts'
export type { ToolCacheOptions, ToolCacheRule } from './calls/tool-cache.ts'
export { memoryVectorIndex } from './semantic/vector-index.ts'
export type { MemoryVectorIndexOptions, VectorIndex, VectorMatch } from './semantic/vector-index.ts'
