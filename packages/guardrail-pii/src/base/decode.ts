import { withoutEnd } from './without-end.ts'

/** Encoding of a text. */
export type Encoding = 'base64' | 'url' | 'hex'

export const encodings: readonly Encoding[] = ['base64', 'url', 'hex']

interface Encoded {
  readonly start: number
  readonly end: number
  readonly decoded: string
}

const forms: Readonly<Record<Encoding, RegExp>> = {
  base64: /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}(?![A-Za-z0-9+/_=-])/g,
  url: /(?<![\w%.~+@-])(?=[\w.~+@-]{0,256}%[\da-f]{2})(?:[\w.~+@-]|%[\da-f]{2})+/gi,
  hex: /(?<![\da-z])(?:0x)?(?:[\da-f]{2}){6,}(?![\da-z])/gi,
}

const decoders: Readonly<Record<Encoding, (text: string) => Uint8Array | undefined>> = {
  base64: (text) => {
    const plain = withoutEnd(text, '=').replace(/-/g, '+').replace(/_/g, '/')
    return plain.length % 4 === 1 ? undefined : bytesOf(atob(plain))
  },
  url: (text) => bytesOf(text.replace(/%([\da-f]{2})/gi, (_, hex: string) => fromHex(hex))),
  hex: (text) => bytesOf(text.replace(/^0x/i, '').replace(/../g, fromHex)),
}

const fromHex = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))
const bytesOf = (binary: string): Uint8Array =>
  Uint8Array.from(binary, (sign) => sign.charCodeAt(0))
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Finds encoded texts within a text. Bytes that are not text are skipped. */
export function* encodedStretches(
  text: string,
  decode: readonly Encoding[],
  maxBytes: number,
): Generator<Encoded> {
  for (const encoding of decode) {
    for (const { index: start, 0: match } of text.matchAll(forms[encoding])) {
      if (match.length > 2 * maxBytes) continue
      const decoded = textIn(decoders[encoding](match))
      if (decoded !== undefined) yield { start, end: start + match.length, decoded }
    }
  }
}

function textIn(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined) return undefined
  try {
    const text = utf8.decode(bytes)
    return /[^\P{Cc}\t\n\v\f\r]/u.test(text) ? undefined : text
  } catch {
    return undefined
  }
}
