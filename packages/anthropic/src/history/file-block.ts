import type { DataContent, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { locatedFile } from '@lamella/transport'

const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** The block for an image or a document, or nothing for what Claude cannot be shown. */
export function fileBlock(content: DataContent | UriContent): WireObject | undefined {
  const { base64, uri, mediaType } = locatedFile(content)
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

function decodeText(base64: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)))
  } catch {
    return ''
  }
}
