/** An encoded part of a text, and its decoded content. */
export interface EncodedText {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Maximum number of encoded characters that are read in one text. */
const maxChars = 65_536
const mostlyWords = /^[\p{L}\p{N}\p{P}\p{S}\s]+$/u

const codes: readonly { readonly pattern: RegExp; read: (code: string) => string }[] = [
  { pattern: /[A-Za-z0-9+/_-]{20,}(?:\r?\n[A-Za-z0-9+/_-]+)*={0,2}/g, read: readBase64Lines },
  { pattern: /[0-9A-Fa-f]{24,}/g, read: (code) => utf8(pairs(code)) },
  { pattern: /%[0-9A-Fa-f]{2}(?:[\w.~-]?%[0-9A-Fa-f]{2}|[\w.~-]){8,}/g, read: decodeUri },
  {
    pattern: /(?:\\u[0-9A-Fa-f]{4}){6,}/g,
    read: (code) => points(code.match(/[\dA-Fa-f]{4}/g), 16),
  },
  { pattern: /[&#;\da-fx]{24,}/gi, read: readEntities },
  { pattern: /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4,}/gu, read: readVariations },
]

/** Finds text encoded as base64, hex, percent codes, escapes or variation selectors. */
export function findEncodedText(text: string): readonly EncodedText[] {
  const found: EncodedText[] = []
  let left = maxChars
  for (const { pattern, read } of codes) {
    // Cheaper than an iterator without matches, which most texts have.
    if (text.search(pattern) < 0) continue
    for (const { 0: code, index } of text.matchAll(pattern)) {
      if (code.length > left) break
      left -= code.length
      const decoded = read(code)
      if (mostlyWords.test(decoded)) {
        found.push({ text: decoded, start: index, end: index + code.length })
      }
    }
  }
  return found
}

/** Decodes all lines together, as mail breaks them, otherwise the first one. */
function readBase64Lines(code: string): string {
  const lines = code.split(/\r?\n/)
  const all = lines.length > 1 ? readBase64(lines.join('')) : ''
  return mostlyWords.test(all) ? all : readBase64(lines[0]!)
}

function readEntities(code: string): string {
  const numbers = code.match(/(?<=&#)(?:x[\da-f]+|\d+)(?=;)/gi) ?? []
  return points(
    numbers.map((number) => number.replace(/^x/i, '0x')),
    undefined,
  )
}

function readBase64(code: string): string {
  try {
    const standard = code.split('=', 1)[0]!.replaceAll('-', '+').replaceAll('_', '/')
    return utf8(Uint8Array.from(atob(standard), (byte) => byte.charCodeAt(0)))
  } catch {
    return ''
  }
}

function pairs(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length >> 1 }, (_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  )
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return ''
  }
}

function decodeUri(code: string): string {
  try {
    return decodeURIComponent(code)
  } catch {
    return ''
  }
}

function points(numbers: readonly string[] | null, radix: number | undefined): string {
  return (numbers ?? [])
    .map((number) => Number.parseInt(number, radix))
    .map((point) => (point <= 0x10ffff ? String.fromCodePoint(point) : ''))
    .join('')
}

/** Each selector stands for a byte, the first sixteen in one block and the others in another. */
function readVariations(code: string): string {
  const bytes = Array.from(code, (selector) => {
    const point = selector.codePointAt(0)!
    return point < 0xfe10 ? point - 0xfe00 : point - 0xe0100 + 16
  })
  return utf8(Uint8Array.from(bytes))
}
