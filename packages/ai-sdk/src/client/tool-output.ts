import type { Content, FunctionResultContent } from '@lamella/core'
import { textOf } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'
import { mediaTypeOf, sourceOf, toFileData } from '../model/file-data.ts'
import type { AiSdkVersion } from '../model/language-model.ts'

/** Model that a result is for. */
export interface OutputTarget {
  readonly version: AiSdkVersion
  readonly provider: string
}

/** The `output` of a tool result: text where it is only text. */
export function toolOutput(
  { contents, error }: FunctionResultContent,
  target: OutputTarget,
): WireObject {
  const value = contents.map(readable).join('')
  if (error !== undefined) {
    const isDenied = error.code === 'rejected' || error.code === 'denied'
    if (isDenied && target.version !== 'v2') return { type: 'execution-denied', reason: value }
    return { type: 'error-text', value: value === '' ? `The tool failed: ${error.code}.` : value }
  }
  if (!contents.some(isFile)) return { type: 'text', value }
  return { type: 'content', value: contents.flatMap((content) => outputPart(content, target)) }
}

function outputPart(content: Content, { version, provider }: OutputTarget): readonly WireObject[] {
  if (!isFile(content)) {
    const text = readable(content)
    return text === '' ? [] : [{ type: 'text', text }]
  }
  const mediaType = mediaTypeOf(content)
  const source = sourceOf(content, provider)
  const named = content.name === undefined ? {} : { filename: content.name }
  if (version === 'v4') {
    return [{ type: 'file', mediaType, data: toFileData(source, version), ...named }]
  }
  if (source.kind === 'data') {
    const data = toBase64(source.data)
    if (version === 'v2') return [{ type: 'media', data, mediaType }]
    const type = mediaType.startsWith('image/') ? 'image-data' : 'file-data'
    return [{ type, data, mediaType, ...(type === 'file-data' && named) }]
  }
  // Version 2 has no links in results.
  if (version === 'v2')
    return [{ type: 'text', text: linkText(content.type === 'uri' ? content.uri : '') }]
  if (source.kind === 'url') {
    const type = mediaType.startsWith('image/') ? 'image-url' : 'file-url'
    return [{ type, url: source.url.href }]
  }
  return [{ type: 'file-id', fileId: toFileData(source, version) }]
}

/** A link in words, for a model that cannot open it. */
export function linkText(uri: string): string {
  return `[file: ${uri}]`
}

function readable(content: Content): string {
  return content.type === 'refusal' ? content.text : textOf([content])
}

function isFile(content: Content): content is Extract<Content, { type: 'data' | 'uri' }> {
  return content.type === 'data' || content.type === 'uri'
}
