interface NodeCrypto {
  createHash(algorithm: string): { update(text: string): { digest(encoding: string): string } }
  /** Quicker, where the runtime has it. */
  hash?(algorithm: string, text: string, encoding: string): string
}

interface NodeGlobal {
  process?: { getBuiltinModule?: (name: 'node:crypto') => NodeCrypto | undefined }
}

// Asked for and not imported, so that a bundle for the edge needs no module of Node's. Asked for with the first
// hash: loading it takes as long as loading core.
let node: NodeCrypto | false | undefined

/** The SHA-256 of a text, in hexadecimal. At once on Node, as a promise where only Web Crypto is. */
export function sha256(text: string): string | Promise<string> {
  node ??= (globalThis as NodeGlobal).process?.getBuiltinModule?.('node:crypto') ?? false
  if (node === false) return webSha256(text)
  return node.hash?.('sha256', text, 'hex') ?? node.createHash('sha256').update(text).digest('hex')
}

/** The same by Web Crypto. */
export async function webSha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
