import { canonicalJson, toBase64 } from '../base/json.ts'
import { LamellaError } from '../base/lamella-error.ts'
import type { Checkpoint } from '../contract/outcome.ts'

/** Key of 16 bytes or more that signs checkpoints. A text counts as its UTF-8 bytes. */
export type SigningKey = string | Uint8Array

/** Signs checkpoints and recognizes them. Without a key, the signature is a checksum. */
export class CheckpointSigner {
  readonly #keys: readonly (Uint8Array<ArrayBuffer> | undefined)[]

  /** @throws RangeError for what is no key */
  constructor(keys: readonly SigningKey[]) {
    this.#keys = keys.length === 0 ? [undefined] : keys.map(bytesOf)
  }

  /** Adds the signature, made with the first key. */
  async sign(checkpoint: Omit<Checkpoint, 'signature'>): Promise<Checkpoint> {
    return { ...checkpoint, signature: await signatureOf(checkpoint, this.#keys[0]) }
  }

  /**
   * Verifies the signature.
   * @throws LamellaError `checkpoint_invalid` if none of the keys has signed exactly this checkpoint
   */
  async check({ signature, ...signed }: Checkpoint): Promise<void> {
    for (const key of this.#keys) {
      // oxlint-disable-next-line no-await-in-loop
      const own = await signatureOf(signed, key).catch(() => undefined)
      if (own !== undefined && isSame(own, signature)) return
    }
    throw checkpointInvalid('the checkpoint was changed, or signed with another key')
  }
}

async function signatureOf(
  signed: unknown,
  key: Uint8Array<ArrayBuffer> | undefined,
): Promise<string> {
  // Sorted, as a database may have stored the keys in another order.
  const text = new TextEncoder().encode(canonicalJson(signed))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const { subtle } = crypto
  const tag =
    key === undefined
      ? subtle.digest(algorithm.hash, text)
      : subtle.sign('HMAC', await subtle.importKey('raw', key, algorithm, false, ['sign']), text)
  return toBase64(new Uint8Array(await tag))
}

/** Error for what cannot be resumed. */
export function checkpointInvalid(problem: string): LamellaError {
  return new LamellaError(`resume: ${problem}`, { code: 'checkpoint_invalid' })
}

/** Compares in constant time. */
function isSame(own: string, given: unknown): boolean {
  if (typeof given !== 'string') return false
  let difference = own.length ^ given.length
  for (let at = 0; at < own.length; at++) difference |= own.charCodeAt(at) ^ given.charCodeAt(at)
  return difference === 0
}

function bytesOf(key: SigningKey): Uint8Array<ArrayBuffer> {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key
  if (bytes instanceof Uint8Array && bytes.length >= 16) return new Uint8Array(bytes)
  throw new RangeError('agent: a key of `sign` must be a text or bytes, at least 16 bytes long')
}
