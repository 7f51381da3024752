export { cachedContents } from './caching/cached-contents.ts'
export type { ContentCaching } from './caching/content-caching.ts'
