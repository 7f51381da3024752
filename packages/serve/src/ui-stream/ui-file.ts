import { toBase64 } from '@lamella/core/authoring'
import type { ChatPart } from '../reader/answer-fold.ts'

/** A file as the UI message stream has it: an address, which may hold the bytes. */
export interface UiFile {
  readonly type: 'file'
  readonly url: string
  readonly mediaType: string
  readonly [field: string]: unknown
}

/** The file that a part is, if it is one. */
export function fileOf({ type, uri, data, mediaType, name }: ChatPart): UiFile | undefined {
  const media = typeof mediaType === 'string' ? mediaType : 'application/octet-stream'
  const shared = { mediaType: media, ...(typeof name === 'string' && { filename: name }) }
  if (type === 'uri' && typeof uri === 'string') return { type: 'file', url: uri, ...shared }
  if (type !== 'data') return undefined
  const base64 = data instanceof Uint8Array ? toBase64(data) : String(data)
  return { type: 'file', url: `data:${media};base64,${base64}`, ...shared }
}
