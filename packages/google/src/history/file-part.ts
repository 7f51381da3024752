import type { DataContent, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { locatedFile, recordOf } from '@lamella/transport'

// https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats, 2026-11.
const takenTypes = /^(audio|video|text)\/|^image\/(png|jpeg|webp|heic|heif)$|^application\/pdf$/
const texts = /^application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|x-javascript|x-sh)$/

const filesAddress = 'https://generativelanguage.googleapis.com/v1beta/files/'

/** Returns the part for a file, or nothing for what Gemini does not read. */
export function filePart(content: DataContent | UriContent): WireObject | undefined {
  const { mediaType = '', base64, uri } = locatedFile(content)
  const extra = recordOf(content.metadata?.['google'])
  const mimeType = texts.test(mediaType) ? 'text/plain' : mediaType
  if (mimeType !== '' && !takenTypes.test(mimeType)) return undefined
  if (base64)
    return mimeType === '' ? undefined : { inlineData: { mimeType, data: base64 }, ...extra }
  // A name of the Files API.
  const fileUri = uri?.replace(/^files\/(?=[\w-]+$)/, filesAddress)
  if (!/^(https?|gs):\/\//i.test(fileUri ?? '')) return undefined
  return { fileData: { ...(mimeType !== '' && { mimeType }), fileUri }, ...extra }
}

/** Returns true for a media type that may stand inside the result of a tool. */
export function fitsResult(part: WireObject): boolean {
  const { mimeType } = recordOf(part['inlineData'])
  return /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/.test(String(mimeType))
}
