import type { Content, DataContent, UriContent } from '@lamella/core'
import { stringOf } from '@lamella/transport'
import { fileName, fileSource } from '../requests/file-source.ts'

/** The parts of a user's message or of a tool's result. */
export function inputParts(contents: readonly Content[]): unknown[] {
  return contents.flatMap((content) => inputPart(content) ?? [])
}

/** A lone text as it is, anything else as a list of parts. */
export function inputContent(contents: readonly Content[]): unknown {
  const parts = inputParts(contents)
  const [only] = contents
  return parts.length === 1 && contents.length === 1 && only?.type === 'text' ? only.text : parts
}

/** Returns the part of a tool's result that the model reads: one string, unless there are images or files. */
export function outputContent(contents: readonly Content[]): unknown {
  if (contents.every(({ type }) => !isFile(type))) {
    return contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
  }
  return inputParts(contents)
}

export function isFile(type: Content['type']): boolean {
  return type === 'data' || type === 'uri'
}

function inputPart(content: Content): unknown {
  if (content.type === 'text') {
    return content.text === '' ? undefined : { type: 'input_text', text: content.text }
  }
  if (content.type === 'refusal') return { type: 'input_text', text: content.text }
  return content.type === 'data' || content.type === 'uri' ? filePart(content) : undefined
}

function filePart(content: DataContent | UriContent): unknown {
  const source = fileSource(content)
  const { kind, url, fileId, base64 } = source
  const detail = stringOf(content.metadata?.['detail'])
  if (kind === 'image') {
    const place = fileId === undefined ? { image_url: url } : { file_id: fileId }
    return { type: 'input_image', ...place, detail: detail ?? 'auto' }
  }
  if (fileId !== undefined) return { type: 'input_file', file_id: fileId }
  if (base64 === undefined) return { type: 'input_file', file_url: url }
  return { type: 'input_file', filename: fileName(source), file_data: url }
}
