import type { Content } from '@lamella/core'

const textual =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|sql|rtf|x-ndjson))/i

/** Returns the text of a file; nothing for images, sound and files that are stored elsewhere. */
export function fileText(file: Content | undefined): string | undefined {
  if (file?.type !== 'data' || !textual.test(file.mediaType)) return undefined
  const { data } = file
  const bytes = typeof data === 'string' ? bytesOf(data) : data
  return bytes && new TextDecoder().decode(bytes)
}

function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0))
  } catch {
    return undefined
  }
}
