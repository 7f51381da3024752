import type { DataContent, UriContent } from '@lamella/core'
import { moderationFailed } from './moderator.ts'

/** An image as a URL, or as a data URL. */
export function imageUrl(image: DataContent | UriContent): string {
  return image.type === 'uri' ? image.uri : `data:${image.mediaType};base64,${base64(image.data)}`
}

/** An image in base64, where its bytes are at hand. */
export function imageBase64(moderator: string, image: DataContent | UriContent): string {
  if (image.type === 'data') return base64(image.data)
  const bytes = /^data:[^,]*;base64,(.*)$/s.exec(image.uri)?.[1]
  if (bytes === undefined) throw moderationFailed(moderator, 'it does not fetch images')
  return bytes
}

function base64(data: string | Uint8Array): string {
  if (typeof data === 'string') return data
  let binary = ''
  for (let at = 0; at < data.length; at += 0x8000) {
    binary += String.fromCharCode(...data.subarray(at, at + 0x8000))
  }
  return btoa(binary)
}
