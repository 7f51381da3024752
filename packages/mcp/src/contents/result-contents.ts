import type { Content } from '@lamella/core'
import { text } from '@lamella/core'

type Fields = Readonly<Record<string, unknown>>

/** Thrown for a result that is larger than the limit. */
export class ResultTooLarge extends Error {}

/**
 * Turns parts of a result, a prompt or a resource into contents. A link stays text: a provider must not fetch
 * what a server named. Parts of an unknown kind become their JSON.
 * @throws ResultTooLarge if they have more than `maxBytes`
 */
export function contentsOf(parts: unknown, maxBytes: number): Content[] {
  const list: unknown[] = Array.isArray(parts) ? parts : parts == null ? [] : [parts]
  let bytes = 0
  return list.map((part) => {
    bytes += sizeOf(part, maxBytes - bytes)
    if (bytes > maxBytes) throw new ResultTooLarge(`it has more than ${maxBytes} bytes`)
    return contentOf(part)
  })
}

/** The contents of a resource. Texts begin with their address, so that a reader can tell them apart. */
export function resourceContents(parts: unknown, maxBytes: number): Content[] {
  const list: unknown[] = Array.isArray(parts) ? parts : []
  const resources = list.map((resource) => ({ type: 'resource', resource }))
  return contentsOf(resources, maxBytes)
}

function contentOf(part: unknown): Content {
  if (typeof part === 'string') return text(part)
  const fields = (part ?? {}) as Fields
  const { type, data, mimeType } = fields
  const { annotations } = fields
  const metadata = { mcp: { type, ...(annotations != null && { annotations }) } }
  if (type === 'text' && typeof fields['text'] === 'string') {
    return { ...text(fields['text']), metadata }
  }
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return { ...dataContent(data, mimeType), metadata }
  }
  if (type === 'resource') return { ...resourceContent(fields['resource']), metadata }
  if (type === 'resource_link') {
    const { uri, name, description } = fields
    const said = [name, description].filter((word) => typeof word === 'string').join(': ')
    return { ...text(`[resource ${String(uri)}] ${said}`.trim()), metadata }
  }
  return { ...text(JSON.stringify(part) ?? ''), metadata }
}

function resourceContent(resource: unknown): Content {
  const { uri, mimeType, text: words, blob } = (resource ?? {}) as Fields
  if (typeof blob === 'string') {
    return dataContent(blob, mimeType, String(uri))
  }
  return text(`[resource ${String(uri)}]\n${typeof words === 'string' ? words : ''}`)
}

/** A provider would refuse the whole request for data that is not base64. */
function dataContent(given: string, mimeType: unknown, name?: string): Content {
  const [, ofAddress, encoded = given] = /^data:([^,]*),(.*)$/s.exec(given) ?? []
  const data = plainBase64(encoded)
  if (data === undefined) return text('[data that is not base64]')
  const wished = typeof mimeType === 'string' ? mimeType : ofAddress?.split(';')[0]
  const isType = wished !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(wished)
  const mediaType = isType ? wished : 'application/octet-stream'
  return { type: 'data', mediaType, data, ...(name !== undefined && { name }) }
}

/** Base64 in the one spelling that providers read: Python's SDK has another alphabet, and MIME has lines. */
function plainBase64(given: string): string | undefined {
  const data = given
    .replaceAll(/\s+/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '')
  if (!/^[A-Za-z\d+/]*$/.test(data) || data.length % 4 === 1) return undefined
  return data.padEnd(Math.ceil(data.length / 4) * 4, '=')
}

/** Counts all texts of a part, as far as `most`, so that no part is read that has too much. */
function sizeOf(part: unknown, most: number): number {
  const open: unknown[] = [part]
  let size = 0
  while (open.length > 0 && size <= most) {
    const value = open.pop()
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (!Array.isArray(value)) size += key.length
        open.push(inner)
      }
    } else size += 8
  }
  return size
}
