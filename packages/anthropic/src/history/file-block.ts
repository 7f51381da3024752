import type { DataContent, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'

const byExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
}

const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The block for an image or a document, or nothing for what Claude cannot be shown. */
export function fileBlock(content: DataContent | UriContent): WireObject | undefined {
  const { base64, uri, mediaType } = sourceOf(content)
  // An id of the Files API.
  if (uri !== undefined && /^file_[\w-]+$/.test(uri)) {
    const source = { type: 'file', file_id: uri }
    return mediaType?.startsWith('image/') ? { type: 'image', source } : document(content, source)
  }
  if (uri !== undefined) {
    if (!/^https?:/i.test(uri)) return undefined
    const source = { type: 'url', url: uri }
    if (mediaType === 'application/pdf') return document(content, source)
    // Without a media type and an ending, a link is most likely to an image.
    const isImage = mediaType === undefined || mediaType.startsWith('image/')
    return isImage ? { type: 'image', source } : undefined
  }
  if (base64 === undefined || base64 === '') return undefined
  if (mediaType !== undefined && images.has(mediaType)) {
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } }
  }
  if (mediaType === 'application/pdf') {
    return document(content, { type: 'base64', media_type: mediaType, data: base64 })
  }
  const isText = /^text\/|^application\/(.*\+)?(json|xml|yaml|x-yaml)$/.test(mediaType ?? '')
  const data = isText ? decodeText(base64) : ''
  if (data === '') return undefined
  return document(content, { type: 'text', media_type: 'text/plain', data })
}

interface Source {
  readonly mediaType: string | undefined
  readonly base64?: string | undefined
  readonly uri?: string
}

function sourceOf(content: DataContent | UriContent): Source {
  if (content.type === 'data') {
    const { data } = content
    return {
      mediaType: plain(content.mediaType),
      base64: toBase64(data),
    }
  }
  const { uri, name } = content
  const [, typeThere, encoding, data] = /^data:([^;,]*)[^,]*?(;base64)?,(.*)$/s.exec(uri) ?? []
  if (data !== undefined) {
    const mediaType = plain(content.mediaType ?? (typeThere || 'text/plain'))
    const base64 = encoding ? data : toBase64(new TextEncoder().encode(decodeUri(data)))
    return { mediaType, base64 }
  }
  const ending = /\.(\w+)(?:[?#]|$)/.exec(name ?? uri)?.[1]?.toLowerCase() ?? ''
  return { mediaType: plain(content.mediaType ?? byExtension[ending]), uri }
}

function document(
  { name, metadata = {} }: DataContent | UriContent,
  source: WireObject,
): WireObject {
  const { citations, context, title = name } = metadata
  return {
    type: 'document',
    source,
    ...(typeof title === 'string' && { title }),
    ...(typeof context === 'string' && { context }),
    ...(citations === true && { citations: { enabled: true } }),
  }
}

/** Without parameters: `text/plain; charset=utf-8` is `text/plain`. */
function plain(mediaType: string | undefined): string | undefined {
  const type = mediaType?.split(';')[0]!.trim().toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}

function decodeText(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
  } catch {
    return ''
  }
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
