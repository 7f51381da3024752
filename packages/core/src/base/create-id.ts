// Ids of messages, responses and runs need to be unique, not secret: a random prefix for each
// process and a counter are both, and cost a tenth of a UUID. Ids that grant something
// (approvals) are made by `createSecretId`.
let prefix: string | undefined

let counter = 0

/** Creates a unique id, such as `run_5f04a1c9d2e7-48`. It can be guessed. */
export function createId(kind: string): string {
  return `${kind}_${(prefix ??= randomText(2).slice(4))}-${counter++}`
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

/** Makes the ids of a run. */
export interface IdSource {
  /** Makes a unique id, which can be guessed. */
  readonly createId: (kind: string) => string
  /** Makes an id that grants something, such as that of an approval. */
  readonly createSecretId: (kind: string) => string
}

/** Ids from the random numbers of the platform. */
export const platformIds: IdSource = { createId, createSecretId }

/** Makes ids from random numbers: equal numbers give equal ids, as secret as the numbers are. */
export function idsFrom(random: () => number): IdSource {
  const text = (words: number): string =>
    Array.from({ length: words }, () =>
      (2 ** 32 + Math.floor(random() * 2 ** 32)).toString(16).slice(1),
    ).join('')
  let last = ''
  let repeated = 0
  return {
    createId(kind) {
      // Each id has numbers of its own, so that one more or less changes no other. Some tests have only one number.
      const own = text(2).slice(4)
      if (own === last) repeated++
      last = own
      return repeated === 0 ? `${kind}_${own}` : `${kind}_${own}-${repeated}`
    },
    createSecretId: (kind) => `${kind}_${text(4)}`,
  }
}
