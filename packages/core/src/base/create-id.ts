// Ids of messages, responses and runs need to be unique, not secret: a random prefix for each
// process and a counter are both, and cost a tenth of a UUID. Ids that grant something
// (approvals) are made by `createSecretId`.
let prefix: string | undefined

let counter = 0

/** Creates a unique id, such as `run_k3f9x2-1c`. It can be guessed. */
export function createId(kind: string): string {
  prefix ??= randomText(2).slice(4)
  return `${kind}_${prefix}-${(counter++).toString(36)}`
}

/** Creates an id of 128 random bits, which cannot be guessed. */
export function createSecretId(kind: string): string {
  return `${kind}_${randomText(4)}`
}

// Joined, not added piece by piece: added pieces stay a tree that takes four times the memory where ids are kept.
function randomText(words: number): string {
  const random = crypto.getRandomValues(new Uint32Array(words))
  return Array.from(random, (word) => word.toString(16).padStart(8, '0')).join('')
}
