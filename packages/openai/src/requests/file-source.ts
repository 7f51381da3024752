import type { DataContent, UriContent } from '@lamella/core'
import type { FileLoss } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'

/** Place of the bytes of a file: in a `data:` URI, behind a URL, or with the provider by an id. */
export interface FileSource {
  readonly kind: 'image' | 'audio' | 'text' | 'file'
  readonly mediaType: string
  readonly name: string | undefined
  readonly url?: string
  readonly fileId?: string
  readonly base64?: string
}

const byExtension: Readonly<Record<string, string>> = {
  __proto__: null as never,
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
}

/** Reads a file part. A URI without a media type is told by its ending, and is an image if that tells nothing. */
export function fileSource(content: DataContent | UriContent): FileSource {
  if (content.type === 'data') {
    const { name, data } = content
    const mediaType = plainType(content.mediaType)
    const base64 = toBase64(data)
    return {
      kind: kindOf(mediaType),
      mediaType,
      name,
      base64,
      url: `data:${mediaType};base64,${base64}`,
    }
  }
  const { uri, name } = content
  const [, mediaTypeIn] = /^data:([^;,]+)[;,]/.exec(uri) ?? []
  const ending = /\.(\w+)(?:[?#]|$)/.exec(name ?? uri)?.[1]?.toLowerCase() ?? ''
  const mediaType = plainType(content.mediaType ?? mediaTypeIn ?? byExtension[ending] ?? 'image/*')
  const place = isFileId(uri) ? { fileId: uri } : { url: uri }
  const kind = kindOf(mediaType)
  // An id says nothing about the file.
  const isUnknown = place.fileId !== undefined && !content.mediaType && !byExtension[ending]
  return { kind: isUnknown ? 'file' : kind, mediaType, name, ...place }
}

/** The loss of a file that another provider keeps: Anthropic's ids begin with `file_`. */
export function foreignFile(content: DataContent | UriContent): FileLoss | undefined {
  return content.type === 'uri' && /^file_[\w-]+$/.test(content.uri)
    ? { words: 'a file that another provider keeps is left out', isLeftOut: true }
    : undefined
}

/** Ids of uploaded files are `file-…`, those of Azure `assistant-…`; a URI has a scheme. */
function isFileId(uri: string): boolean {
  return /^(file|assistant)-[\w-]+$/.test(uri)
}

/** The text of a `text/*` file. */
export function decodeText(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
}

/** A name for a file that has none, since the API asks for one. */
export function fileName({ name, mediaType }: FileSource): string {
  if (name !== undefined) return name
  const [ending = 'bin'] = Object.entries(byExtension).find(([, type]) => type === mediaType) ?? []
  return `file.${ending}`
}

const sameTypes: Readonly<Record<string, string>> = {
  __proto__: null as never,
  'image/jpg': 'image/jpeg',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/mp3': 'audio/mpeg',
  'audio/x-mp3': 'audio/mpeg',
}

/** One spelling of a media type: without parameters, in small letters. */
function plainType(mediaType: string): string {
  const type = mediaType.split(';')[0]!.trim().toLowerCase()
  return sameTypes[type] ?? type.replace(/^audio\/x-/, 'audio/')
}

function kindOf(mediaType: string): FileSource['kind'] {
  const [type] = mediaType.split('/')
  return type === 'image' || type === 'audio' || type === 'text' ? type : 'file'
}
