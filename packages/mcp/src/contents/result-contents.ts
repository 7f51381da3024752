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
  const list: unknown[] = Array.isArray(parts) ? parts : parts === undefined ? [] : [parts]
  let bytes = 0
  return list.map((part) => {
    const content = contentOf(part)
    bytes += sizeOf(content)
    if (bytes > maxBytes) throw new ResultTooLarge(`it has more than ${maxBytes} bytes`)
    return content
  })
}

/** The contents of a resource. Texts begin with their address, so that a reader can tell them apart. */
export function resourceContents(parts: unknown, maxBytes: number): Content[] {
  const list: unknown[] = Array.isArray(parts) ? parts : []
  const resources = list.map((resource) => ({ type: 'resource', resource }))
  return contentsOf(resources, maxBytes)
}

function contentOf(part: unknown): Content {
  const fields = (part ?? {}) as Fields
  const { type, data, mimeType } = fields
  const { annotations } = fields
  const metadata = { mcp: { type, ...(annotations !== undefined && { annotations }) } }
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
function dataContent(data: string, mimeType: unknown, name?: string): Content {
  if (!/^[A-Za-z\d+/]*={0,2}$/.test(data)) return text('[data that is not base64]')
  const isType = typeof mimeType === 'string' && /^[\w.+-]+\/[\w.+-]+$/.test(mimeType)
  const mediaType = isType ? mimeType : 'application/octet-stream'
  return { type: 'data', mediaType, data, ...(name !== undefined && { name }) }
}

function sizeOf(content: Content): number {
  if (content.type === 'data' && typeof content.data === 'string') return content.data.length
  return content.type === 'text' ? content.text.length : 0
}
