import type { Content, FunctionResult } from '@lamella/core'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import { toFileContent } from './file-data.ts'

/** The `output` of a tool result, of a prompt or of `toModelOutput`, as what the model reads. */
export function fromToolOutput(output: unknown): Pick<FunctionResult, 'contents' | 'error'> {
  const { type, value, reason } = recordOf(output)
  const code = errorCodes[String(type)]
  return {
    contents: type === 'content' ? listOf(value).map(resultContent) : [words(value ?? reason)],
    ...(code !== undefined && { error: { code, message: 'The tool returned no result.' } }),
  }
}

const errorCodes: Readonly<Record<string, NonNullable<FunctionResult['error']>['code']>> = {
  'error-text': 'tool_failed',
  'error-json': 'tool_failed',
  'execution-denied': 'rejected',
}

function words(value: unknown): Content {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return { type: 'text', text }
}

/** A part of a result: of v4 a `file`, of v3 one of several kinds, of v2 `media`. */
function resultContent(value: unknown): Content {
  const part = recordOf(value)
  const { text, url, fileId, data } = part
  if (typeof text === 'string') return { type: 'text', text }
  if (typeof url === 'string') {
    const mediaType = stringOf(part['mediaType'])
    return { type: 'uri', uri: url, ...(mediaType !== undefined && { mediaType }) }
  }
  if (typeof fileId === 'string') return { type: 'uri', uri: fileId }
  if (fileId !== undefined)
    return resultContent({ ...part, fileId: Object.values(recordOf(fileId))[0] })
  return toFileContent({ ...part, data }) ?? words(part)
}
