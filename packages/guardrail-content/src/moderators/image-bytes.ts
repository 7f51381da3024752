import type { DataContent, UriContent } from '@lamella/core'
import { toBase64 } from '@lamella/core/authoring'
import { moderationFailed } from './moderator.ts'

/** An image as a URL, or as a data URL. */
export function imageUrl(image: DataContent | UriContent): string {
  return image.type === 'uri' ? image.uri : `data:${image.mediaType};base64,${toBase64(image.data)}`
}

/** An image in base64, where its bytes are at hand. */
export function imageBase64(moderator: string, image: DataContent | UriContent): string {
  if (image.type === 'data') return toBase64(image.data)
  const bytes = /^data:[^,]*;base64,(.*)$/s.exec(image.uri)?.[1]
  if (bytes === undefined) throw moderationFailed(moderator, 'it does not fetch images')
  return bytes
}
