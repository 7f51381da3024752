import type { DataContent, UriContent } from '@lamella/core'
import { toBase64 } from '@lamella/core/authoring'
import { decoded } from '../wire/wire.ts'

/** A file as bytes or behind an address. */
export interface LocatedFile {
  /** Media type without parameters: that of the content or its `data:` URI, else by the ending of its name or address. */
  readonly mediaType: string | undefined
  /** Bytes, of a `data` content or a `data:` URI. */
  readonly base64?: string
  /** Any other address. */
  readonly uri?: string
}

const byEnding: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
}

/** Finds the bytes or the address of a file content, and its media type. */
export function locatedFile(content: DataContent | UriContent): LocatedFile {
  if (content.type === 'data') {
    return { mediaType: plain(content.mediaType), base64: toBase64(content.data) }
  }
  const { uri, name } = content
  const [, typeThere, encoding, data] = /^data:([^;,]*)[^,]*?(;base64)?,(.*)$/s.exec(uri) ?? []
  if (data !== undefined) {
    const mediaType = plain(content.mediaType ?? (typeThere || 'text/plain'))
    const base64 = encoding ? data : toBase64(new TextEncoder().encode(decoded(data)))
    return { mediaType, base64 }
  }
  const ending = /\.(\w+)(?:[?#]|$)/.exec(name ?? uri)?.[1]?.toLowerCase() ?? ''
  const told = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined
  return { mediaType: plain(content.mediaType ?? told), uri }
}

/** Without parameters: `text/plain; charset=utf-8` is `text/plain`. */
function plain(mediaType: string | undefined): string | undefined {
  const type = mediaType?.split(';')[0]!.trim().toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}
