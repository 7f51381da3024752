import type { DataContent, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'
import type { AiSdkVersion } from './language-model.ts'

/** Source of a file part, whatever the version. */
export type FileSource =
  | { readonly kind: 'data'; readonly data: string | Uint8Array }
  | { readonly kind: 'url'; readonly url: URL }
  | { readonly kind: 'reference'; readonly reference: WireObject }
  | { readonly kind: 'text'; readonly text: string }

const byExtension: Readonly<Record<string, string>> = {
  __proto__: null as never,
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
}

/** Media type of a file: what it says, else what its ending says, else that of an image. */
export function mediaTypeOf({ mediaType, ...content }: DataContent | UriContent): string {
  if (mediaType !== undefined && mediaType !== '') return mediaType
  const name = content.name ?? (content.type === 'uri' ? content.uri : '')
  const [, embedded] = /^data:([^;,]+)/.exec(name) ?? []
  const ending = /\.(\w{2,5})(?:[?#]|$)/.exec(name)?.[1]?.toLowerCase() ?? ''
  return embedded ?? byExtension[ending] ?? 'image/*'
}

/** Finds the bytes of a content. */
export function sourceOf(content: DataContent | UriContent, provider: string): FileSource {
  if (content.type === 'data') return { kind: 'data', data: content.data }
  const { uri } = content
  const comma = uri.indexOf(',')
  if (uri.startsWith('data:') && comma !== -1) {
    const body = uri.slice(comma + 1)
    const isBase64 = uri.slice(0, comma).endsWith(';base64')
    return { kind: 'data', data: isBase64 ? body : new TextEncoder().encode(decoded(body)) }
  }
  if (URL.canParse(uri)) return { kind: 'url', url: new URL(uri) }
  // The id of a file that the provider keeps.
  return { kind: 'reference', reference: { [provider.split('.')[0]!]: uri } }
}

/** The `data` of a file part in a prompt. */
export function toFileData(source: FileSource, version: AiSdkVersion): unknown {
  if (version === 'v4') {
    const { kind: type, ...rest } = source
    return { type, ...rest }
  }
  if (source.kind === 'data') return source.data
  if (source.kind === 'url') return source.url
  if (source.kind === 'text') return new TextEncoder().encode(source.text)
  return Object.values(source.reference)[0]
}

/** Reads the `data` of a file part, of a prompt or an answer. */
function fromFileData(data: unknown): FileSource | undefined {
  if (typeof data === 'string' || data instanceof Uint8Array) return { kind: 'data', data }
  if (data instanceof URL) return { kind: 'url', url: data }
  const { type, data: bytes, url, reference, text } = recordOf(data)
  if (type === 'data') return fromFileData(bytes)
  if (type === 'url') {
    return URL.canParse(String(url)) ? { kind: 'url', url: new URL(String(url)) } : undefined
  }
  if (type === 'reference') return { kind: 'reference', reference: recordOf(reference) }
  return type === 'text' && typeof text === 'string' ? { kind: 'text', text } : undefined
}

/** A file of an answer or a prompt as content. */
export function toFileContent(part: WireObject): DataContent | UriContent | undefined {
  const source = fromFileData(part['data'])
  const mediaType = stringOf(part['mediaType']) ?? 'application/octet-stream'
  const name = stringOf(part['filename'])
  const named = name === undefined ? {} : { name }
  switch (source?.kind) {
    case 'data':
      return { type: 'data', mediaType, data: toBase64(source.data), ...named }
    case 'text': {
      const data = toBase64(new TextEncoder().encode(source.text))
      return { type: 'data', mediaType, data, ...named }
    }
    case 'url':
      return { type: 'uri', uri: source.url.href, mediaType, ...named }
    case 'reference':
      return { type: 'uri', uri: String(Object.values(source.reference)[0]), mediaType, ...named }
    default:
      return undefined
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
