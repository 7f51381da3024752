/** Says for instructions whose marker they carry; anything that makes them longer changes it. */
export function canaryFor(instructions: string): string {
  return `${canaryPrefix}${hash(instructions, 0)}${hash(instructions, 1)}`
}

/** Returns the marker of instructions, if they have one. */
export function canaryOf(instructions: string | undefined): string | undefined {
  return instructions?.match(/canary-[0-9a-f]{16}/)?.[0]
}

/** Returns the index from which a text may still become a marker. */
export function pendingCanary(text: string): number {
  for (let at = Math.max(0, text.length - canaryChars + 1); at < text.length; at++) {
    if ((text.charCodeAt(at) | 32) !== firstLetter) continue
    const tail = text.slice(at).toLowerCase()
    const isStart = tail.startsWith(canaryPrefix) || canaryPrefix.startsWith(tail)
    if (isStart) return at
  }
  return text.length
}

/**
 * 32 bits as eight digits (FNV-1a). The same for the same text, so that neither a prompt cache nor a
 * cache of answers misses because of it.
 */
function hash(text: string, seed: number): string {
  let bits = 0x811c9dc5 ^ seed
  for (let at = 0; at < text.length; at++) {
    bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193)
  }
  return (bits >>> 0).toString(16).padStart(8, '0')
}

const canaryPrefix = 'canary-'
const firstLetter = canaryPrefix.charCodeAt(0)
const canaryChars = canaryPrefix.length + 16
