import { sha256 } from '@noble/hashes/sha2.js'
import { idPattern } from '../base/id-pattern.ts'
import { patternRecognizer } from '../base/recognizer.ts'
import type { Recognizer } from '../base/recognizer.ts'

/** Recognizes addresses of Bitcoin (Base58Check, Bech32) and Ethereum. */
export const cryptoAddress: Recognizer = patternRecognizer({
  kind: 'crypto',
  pattern: idPattern(
    String.raw`(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[02-9ac-hj-np-z]{11,71}|0x[\da-fA-F]{40})`,
  ),
  check: (match) => {
    if (match.startsWith('0x')) return 0.7
    return (match.startsWith('bc1') ? hasBech32(match) : hasBase58Check(match)) && 0.95
  },
})

const base58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function hasBase58Check(address: string): boolean {
  let number = 0n
  for (const sign of address) number = number * 58n + BigInt(base58.indexOf(sign))
  if (number >> 200n !== 0n) return false
  const bytes = Uint8Array.from({ length: 25 }, (_, at) =>
    Number((number >> BigInt(8 * (24 - at))) & 255n),
  )
  const check = sha256(sha256(bytes.subarray(0, 21)))
  return bytes.subarray(21).every((byte, at) => byte === check[at])
}

const bech32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'

/** Checks the checksum of BIP 173 and BIP 350. */
function hasBech32(address: string): boolean {
  let check = 1
  const take = (value: number): void => {
    const top = check >>> 25
    check = ((check & 0x1ffffff) << 5) ^ value
    for (const [at, generator] of generators.entries()) if ((top >> at) & 1) check ^= generator
  }
  for (const value of [3, 3, 0, 2, 3]) take(value)
  for (const sign of address.slice(3)) take(bech32.indexOf(sign))
  return check === 1 || check === 0x2bc830a3
}

const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3]
