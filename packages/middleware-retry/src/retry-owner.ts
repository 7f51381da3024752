import type { ChatOptions, FunctionInvocationContext } from '@lamella/core'

/** A property that travels inward with a call, also into the layers of another client. */
const owner = Symbol.for('@lamella/middleware-retry:owner')

type Owned = { [owner]?: true | undefined }

/** Whether a layer further out repeats this call. */
export function isOwned(call: ChatOptions | FunctionInvocationContext['metadata']): boolean {
  return (call as Owned)[owner] === true
}

/** The options of a call whose retries are ours: no SDK and no layer further in makes any. */
export function ownOptions(options: ChatOptions): ChatOptions {
  const owned: ChatOptions & Owned = { ...options, transportRetries: 0, [owner]: true }
  return owned
}

/** Says that a tool call's retries are ours. */
export function ownToolCall({ metadata }: FunctionInvocationContext): void {
  ;(metadata as Owned)[owner] = true
}
