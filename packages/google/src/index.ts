export { GoogleChatClient } from './google-chat-client.ts'
export type { GoogleChatClientOptions, VertexOptions } from './connection/client-options.ts'
export type { ContentCaching } from './caching/content-caching.ts'
export type {
  CachedContentOptions,
  GoogleProviderOptions,
  SafetySetting,
} from './requests/google-provider-options.ts'
export type { OmittedTool } from './requests/tool-params.ts'
export { googleContentFilter } from './safety/google-content-filter.ts'
export type {
  GoogleContentFilter,
  GoogleSafetyResults,
  GoogleSafetyVerdict,
  GoogleSeverity,
} from './safety/google-content-filter.ts'
