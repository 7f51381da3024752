import type { Content, DataContent, Message, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/core/transport'
import { listOf, recordOf, stringOf } from '@lamella/core/transport'
import { decodeText, fileName, fileSource } from './file-source.ts'

type Param = Record<string, unknown>

/**
 * The messages of a prepared history. Files that a tool returned or the assistant made are shown in
 * a user message behind them, since only users can show files here.
 */
export function toMessageParams(
  messages: readonly Message[],
  instructions: string | undefined,
): Param[] {
  const params: Param[] = instructions ? [{ role: 'system', content: instructions }] : []
  // Within one round of tool calls, models that think want their thoughts back; later they do not.
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  let shown: Content[] = []
  for (const [at, message] of messages.entries()) {
    const { role, contents } = message
    if (role === 'tool') {
      for (const content of contents) {
        if (content.type !== 'function-result') continue
        const { callId: id, contents: result, error } = content
        const text = textOfAll(result) || (error ? `The tool failed: ${error.code}.` : '')
        const files = result.filter(isFile)
        const note =
          text === '' && files.length > 0 ? 'The result is shown in the next message.' : text
        params.push({ role: 'tool', tool_call_id: id, content: note })
        shown.push(...files)
      }
      continue
    }
    const parts = role === 'user' ? [...shown, ...contents] : contents
    if (shown.length > 0 && role !== 'user')
      params.push({ role: 'user', content: userContent(shown) })
    shown = []
    if (role === 'assistant') {
      const param = assistantParam(contents, at > lastUser)
      if (param !== undefined) addAssistant(params, param)
      shown = contents.filter((content) => isFile(content) && !isOwnAudio(content))
    } else {
      params.push({
        role,
        content: role === 'user' ? userContent(parts) : textOfAll(parts),
        ...named(message),
      })
    }
  }
  if (shown.length > 0) params.push({ role: 'user', content: userContent(shown) })
  return params.map(withRefusal)
}

function named({ authorName }: Message): Param {
  return authorName !== undefined && /^[\w-]{1,64}$/.test(authorName) ? { name: authorName } : {}
}

function assistantParam(contents: readonly Content[], isRecent: boolean): Param | undefined {
  const param: Param = { role: 'assistant', content: textOfAll(contents) || null }
  const calls: unknown[] = []
  for (const content of contents) {
    const data = recordOf(content.providerData)
    if (content.type === 'function-call')
      calls.push(callParam(content.callId, content.name, content.arguments, data))
    else if (content.type === 'refusal') param['refusal'] = joined(param['refusal'], content.text)
    else if (content.type === 'reasoning' && isRecent) addThought(param, content.text, data)
    else if (isOwnAudio(content)) param['audio'] = { id: data['itemId'] }
  }
  if (calls.length > 0) param['tool_calls'] = calls
  const isSaid = ['refusal', 'audio', 'tool_calls'].some((field) => param[field] !== undefined)
  return param['content'] === null && !isSaid ? undefined : param
}

/** Two assistant messages in a row are one where the first has calls: their results must follow at once. */
function addAssistant(params: Param[], param: Param): void {
  const last = params.at(-1)
  if (last?.['role'] !== 'assistant' || last['tool_calls'] === undefined) {
    params.push(param)
    return
  }
  const calls = [...listOf(last['tool_calls']), ...listOf(param['tool_calls'])]
  const content = joined(last['content'], param['content']) || null
  const refusal = joined(last['refusal'], param['refusal'])
  params[params.length - 1] = {
    ...last,
    ...param,
    content,
    ...(refusal !== '' && { refusal }),
    tool_calls: calls,
  }
}

/** The content is text, or exactly one refusal: a refusal beside text has a field of its own. */
function withRefusal(param: Param): Param {
  const { refusal, ...rest } = param
  if (refusal === undefined || rest['content'] !== null) return param
  return { ...rest, content: [{ type: 'refusal', refusal }] }
}

function joined(before: unknown, text: unknown): string {
  return `${stringOf(before) ?? ''}${stringOf(text) ?? ''}`
}

function callParam(id: string, name: string, args: string, { type, extra }: WireObject): Param {
  if (type === 'custom') return { id, type, custom: { name, input: args } }
  return { ...recordOf(extra), id, type: 'function', function: { name, arguments: args } }
}

function addThought(param: Param, text: string, { field, details }: WireObject): void {
  if (field === 'reasoning_details') {
    param['reasoning_details'] = [...listOf(param['reasoning_details']), ...listOf(details)]
  } else if (typeof field === 'string') {
    param[field] = joined(param[field], text)
  }
}

function userContent(contents: readonly Content[]): unknown {
  const parts = contents.flatMap((content) => userPart(content) ?? [])
  const [only] = contents
  if (parts.length === 1 && contents.length === 1 && only?.type === 'text') return only.text
  return parts
}

function userPart(content: Content): Param | undefined {
  if (content.type === 'text' || content.type === 'refusal')
    return { type: 'text', text: content.text }
  return isFile(content) ? filePart(content) : undefined
}

function filePart(content: DataContent | UriContent): Param {
  const source = fileSource(content)
  const { kind, mediaType, url, fileId, base64, name } = source
  if (fileId !== undefined) return { type: 'file', file: { file_id: fileId } }
  if (kind === 'image') {
    const detail = stringOf(content.metadata?.['detail'])
    return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } }
  }
  if (base64 === undefined) {
    // There is no field for the address of a file: the model is told where it is.
    return { type: 'text', text: `[${name ?? mediaType}](${url})` }
  }
  if (kind === 'audio') {
    const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.replace(/^audio\/(x-)?/, '')
    return { type: 'input_audio', input_audio: { data: base64, format } }
  }
  if (kind === 'text') return { type: 'text', text: decodeText(base64) }
  return { type: 'file', file: { filename: fileName(source), file_data: url } }
}

function textOfAll(contents: readonly Content[]): string {
  return contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
}

function isFile(content: Content): content is DataContent | UriContent {
  return content.type === 'data' || content.type === 'uri'
}

function isOwnAudio(content: Content): boolean {
  const { type, itemId } = recordOf(content.providerData)
  return content.type === 'data' && type === 'audio' && itemId !== undefined
}
