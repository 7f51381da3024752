export { aesCipher, encryptedStore } from './encrypted-store.ts'
export type { StoreCipher } from './encrypted-store.ts'
export { storeNamespace, storePrefix } from './store-namespace.ts'
export type { StoreNamespace } from './store-namespace.ts'
export { sessions } from './sessions.ts'
export type {
  SessionListOptions,
  SessionOwner,
  SessionPage,
  Sessions,
  SessionsOptions,
} from './sessions.ts'
export { noteListeners } from './note-listeners.ts'
export type { NoteListeners } from './note-listeners.ts'
export { perStore } from './per-store.ts'
export { expiredAnswer, requests } from './requests.ts'
export type {
  ClosedRequest,
  OpenRequest,
  OpenRequests,
  RequestChange,
  RequestFacts,
  RequestListOptions,
  RequestPage,
  RequestsOptions,
} from './requests.ts'
export { whenStored } from './when-stored.ts'
export type { WhenStoredOptions } from './when-stored.ts'
export { storeEntries } from './store-entries.ts'
export type { StoredValue } from './store-entries.ts'
