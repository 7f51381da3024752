import type { ChatOptions, FunctionInvocationContext } from '@lamella/core'

/**
 * Marks a call whose retries a middleware owns. It travels inward, also into middleware of another
 * client.
 */
const owner = Symbol.for('@lamella/middleware-retry:owner')

type Owned = { [owner]?: true | undefined }

/** Tells whether a middleware further out retries this call. */
export function isOwned(call: ChatOptions | FunctionInvocationContext['metadata']): boolean {
  return (call as Owned)[owner] === true
}

/** Returns options that claim the retries of a call: SDKs and middleware further in make none. */
export function ownOptions(options: ChatOptions): ChatOptions {
  const owned: ChatOptions & Owned = { ...options, transportRetries: 0, [owner]: true }
  return owned
}

/** Claims the retries of a tool call. */
export function ownToolCall({ metadata }: FunctionInvocationContext): void {
  ;(metadata as Owned)[owner] = true
}

/** Makes a cache further in skip its entry, so that it does not return the rejected reply again. */
export function reloadCache(options: ChatOptions): ChatOptions {
  const { cache } = options as { readonly cache?: string | { readonly mode?: string } | undefined }
  const control = typeof cache === 'object' ? cache : { mode: cache }
  if (control.mode === 'no-store') return options
  const reloading: ChatOptions & { readonly cache: object } = {
    ...options,
    cache: { ...control, mode: 'reload' },
  }
  return reloading
}

/**
 * Tells whether a call can be repeated without a second effect. Hosted tools may act, so they are
 * unsafe.
 */
export function replayOf({ tools = [] }: ChatOptions): 'safe' | 'unsafe' {
  return tools.some(({ type }) => type === 'hosted') ? 'unsafe' : 'safe'
}
