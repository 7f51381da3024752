import type { DataContent, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'

const byExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  m4a: 'audio/m4a',
  mp4: 'video/mp4',
  mov: 'video/mov',
  webm: 'video/webm',
}

// https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats, 2026-11.
const images = /^image\/(png|jpeg|webp|heic|heif)$/
const takenTypes = /^(audio|video|text)\/|^application\/pdf$/
const texts = /^application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|x-javascript|x-sh)$/

/** Returns the part for a file, or nothing for what Gemini does not read. */
export function filePart(content: DataContent | UriContent): WireObject | undefined {
  const { mediaType, data, fileUri } = sourceOf(content)
  const extra = recordOf(content.metadata?.['google'])
  const mimeType = texts.test(mediaType ?? '') ? 'text/plain' : mediaType
  if (fileUri !== undefined) {
    if (mimeType !== undefined && !isTaken(mimeType)) return undefined
    return { fileData: { ...(mimeType && { mimeType }), fileUri }, ...extra }
  }
  if (!data || mimeType === undefined || !isTaken(mimeType)) return undefined
  return { inlineData: { mimeType, data }, ...extra }
}

/** Returns true for a media type that may stand inside the result of a tool. */
export function fitsResult(part: WireObject): boolean {
  const { mimeType } = recordOf(part['inlineData'])
  return /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/.test(String(mimeType))
}

function isTaken(mimeType: string): boolean {
  return images.test(mimeType) || takenTypes.test(mimeType)
}

interface Source {
  readonly mediaType: string | undefined
  readonly data?: string
  readonly fileUri?: string
}

function sourceOf(content: DataContent | UriContent): Source {
  if (content.type === 'data') {
    return { mediaType: plain(content.mediaType), data: toBase64(content.data) }
  }
  const { uri, name } = content
  const [, typeThere, encoding, data] = /^data:([^;,]*)[^,]*?(;base64)?,(.*)$/s.exec(uri) ?? []
  if (data !== undefined) {
    return {
      mediaType: plain(content.mediaType ?? (typeThere || 'text/plain')),
      data: encoding ? data : toBase64(new TextEncoder().encode(decodeUri(data))),
    }
  }
  const ending = /\.(\w+)(?:[?#]|$)/.exec(name ?? uri)?.[1]?.toLowerCase() ?? ''
  const mediaType = plain(
    content.mediaType ?? (Object.hasOwn(byExtension, ending) ? byExtension[ending] : undefined),
  )
  // A name of the Files API.
  if (/^files\/[\w-]+$/.test(uri)) {
    return { mediaType, fileUri: `https://generativelanguage.googleapis.com/v1beta/${uri}` }
  }
  return /^(https?|gs):\/\//i.test(uri) ? { mediaType, fileUri: uri } : { mediaType }
}

/** Without parameters: `text/plain; charset=utf-8` is `text/plain`. */
function plain(mediaType: string | undefined): string | undefined {
  const type = mediaType?.split(';')[0]!.trim().toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}

function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
