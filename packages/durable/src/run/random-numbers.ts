import { createHmac } from 'node:crypto'

/**
 * Makes random numbers from 0 to below 1: equal seeds and names give equal ones. Nobody who has seen some of them
 * knows the next, since ids of approvals are made of them (HMAC-SHA-256 of a counter, as in NIST SP 800-108).
 */
export function randomNumbers(seed: string, name: string): () => number {
  let count = 0
  let block = new DataView(new ArrayBuffer(0))
  let at = 0
  return () => {
    if (at === block.byteLength) {
      const { buffer, byteOffset } = createHmac('sha256', seed)
        .update(`${name} ${count++}`)
        .digest()
      block = new DataView(buffer, byteOffset, 32)
      at = 0
    }
    at += 4
    return block.getUint32(at - 4) / 2 ** 32
  }
}
