import type { Content, DataContent, Message, UriContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import type { ChatDialect, ThinkingPolicy } from '../dialects/chat-dialect.ts'
import { decodeText, fileName, fileSource } from '../requests/file-source.ts'

type Param = Record<string, unknown>

/**
 * The messages of a prepared history. Files that a tool returned or the assistant made are shown in
 * a user message behind them, since only users can show files here.
 */
export function toMessageParams(
  messages: readonly Message[],
  instructions: string | undefined,
  dialect: ChatDialect,
): Param[] {
  const params: Param[] = instructions ? [{ role: 'system', content: instructions }] : []
  const takesThinking = thinkingPlaces(messages, dialect.thinking)
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
      const param = assistantParam(contents, takesThinking(at), dialect)
      if (param !== undefined) addAssistant(params, param)
      shown = contents.filter((content) => isFile(content) && !isOwnAudio(content))
    } else {
      params.push({
        role,
        content: role === 'user' ? userContent(parts) : textOfAll(parts),
        ...(dialect.authorNames !== false && named(message)),
      })
    }
  }
  if (shown.length > 0) params.push({ role: 'user', content: userContent(shown) })
  const merged = dialect.oneSystemMessage === true ? withOneSystem(params) : params
  const sent = merged.map(withRefusal)
  return dialect.userAfterTools ? sent : sent.flatMap(withBridge)
}

/** Chat templates of Qwen and others refuse a system message that is not the first one. */
function withOneSystem(params: readonly Param[]): readonly Param[] {
  const isSystem = ({ role }: Param): boolean => role === 'system'
  const texts = params.filter(isSystem).map(({ content }) => String(content))
  if (texts.length === 0) return params
  return [
    { role: 'system', content: texts.join('\n\n') },
    ...params.filter((param) => !isSystem(param)),
  ]
}

/** Decides for each position of the history if its reasoning is sent back. */
function thinkingPlaces(
  messages: readonly Message[],
  policy: ThinkingPolicy,
): (at: number) => boolean {
  if (policy === 'never' || policy === 'always') return () => policy === 'always'
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  if (policy === 'round') return (at) => at > lastUser
  let turn = 0
  const turns = messages.map(({ role }) => (role === 'user' ? ++turn : turn))
  const withTools = new Set(turns.filter((_, at) => messages[at]!.role === 'tool'))
  return (at) => at > lastUser || withTools.has(turns[at]!)
}

/** Mistral refuses a message of the user behind tool results: `Unexpected role 'user' after role 'tool'`. */
function withBridge(param: Param, at: number, params: readonly Param[]): readonly Param[] {
  const isBehindTools = param['role'] === 'user' && params[at - 1]?.['role'] === 'tool'
  return isBehindTools ? [{ role: 'assistant', content: 'OK.' }, param] : [param]
}

function named({ authorName }: Message): Param {
  return authorName !== undefined && /^[\w-]{1,64}$/.test(authorName) ? { name: authorName } : {}
}

function assistantParam(
  contents: readonly Content[],
  takesThinking: boolean,
  { requiredThinkingField: required, foreignSignature }: ChatDialect,
): Param | undefined {
  const param: Param = { role: 'assistant', content: textOfAll(contents) || null }
  const calls: Param[] = []
  for (const content of contents) {
    const data = recordOf(content.providerData)
    if (content.type === 'function-call')
      calls.push(callParam(content.callId, content.name, content.arguments, data))
    else if (content.type === 'refusal') param['refusal'] = joined(param['refusal'], content.text)
    else if (content.type === 'text') addExtra(param, data)
    else if (content.type === 'reasoning' && takesThinking) addThought(param, content.text, data)
    else if (isOwnAudio(content)) param['audio'] = { id: data['itemId'] }
  }
  if (calls.length > 0)
    param['tool_calls'] = foreignSignature ? signed(calls, foreignSignature) : calls
  const isSaid = ['refusal', 'audio', 'tool_calls'].some((field) => param[field] !== undefined)
  if (param['content'] === null && !isSaid) return undefined
  if (required !== undefined) param[required] ??= ''
  return param
}

/** Two assistant messages in a row are one where the first has calls: their results must follow at once. */
function addAssistant(params: Param[], param: Param): void {
  const last = params.at(-1)
  if (last?.['role'] !== 'assistant' || last['tool_calls'] === undefined) {
    params.push(param)
    return
  }
  const calls = [...listOf(last['tool_calls']), ...listOf(param['tool_calls'])]
  const content = joinedContent(last['content'], param['content'])
  const refusal = joined(last['refusal'], param['refusal'])
  params[params.length - 1] = {
    ...last,
    ...param,
    content,
    ...(refusal !== '' && { refusal }),
    tool_calls: calls,
  }
}

function joinedContent(before: unknown, next: unknown): unknown {
  if (!Array.isArray(before) && !Array.isArray(next)) return joined(before, next) || null
  return [before, next].flatMap((part) => (Array.isArray(part) ? part : textParts(part)))
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

/** Gemini signs the first call of a turn, and refuses one that is not signed. */
function signed([first, ...rest]: readonly Param[], thoughtSignature: string): Param[] {
  if (first?.['extra_content'] !== undefined) return [first, ...rest]
  const extraContent = { google: { thought_signature: thoughtSignature } }
  return [{ ...first, extra_content: extraContent }, ...rest]
}

/** Adds the signature that Gemini puts on a text. */
function addExtra(param: Param, { extraContent }: WireObject): void {
  if (extraContent !== undefined) param['extra_content'] = extraContent
}

function addThought(param: Param, text: string, { field, details }: WireObject): void {
  if (field === 'reasoning_details') {
    param['reasoning_details'] = [...listOf(param['reasoning_details']), ...listOf(details)]
  } else if (field === 'content') {
    // Mistral's thinking is a part of the content, in front of the text.
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text }], closed: true }
    const parts = Array.isArray(param['content']) ? param['content'] : textParts(param['content'])
    const end = parts.findLastIndex((part) => recordOf(part)['type'] === 'thinking') + 1
    param['content'] = parts.toSpliced(end, 0, thinking)
  } else if (typeof field === 'string') {
    param[field] = joined(param[field], text)
  }
}

function textParts(text: unknown): unknown[] {
  return stringOf(text) === undefined ? [] : [{ type: 'text', text }]
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
  if (content.type === 'hosted') return ownPart(content.data)
  return isFile(content) ? filePart(content) : undefined
}

/** A part in the server's own format, which only the application can have added. */
function ownPart(data: unknown): Param | undefined {
  const part = recordOf(data)
  return stringOf(part['type']) === undefined ? undefined : { ...part }
}

function filePart(content: DataContent | UriContent): Param {
  const source = fileSource(content)
  const { kind, mediaType, url, fileId, base64, name } = source
  if (fileId !== undefined) return { type: 'file', file: { file_id: fileId } }
  if (kind === 'image') {
    const detail = stringOf(content.metadata?.['detail'])
    return { type: 'image_url', image_url: { url, detail } }
  }
  if (base64 === undefined) {
    // There is no field for the address of a file: the model is told where it is.
    return { type: 'text', text: `[${name ?? mediaType}](${url})` }
  }
  if (kind === 'audio') {
    const format = mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length)
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
