import type {
  Content,
  DataContent,
  FunctionCallContent,
  FunctionResultContent,
  Origin,
  UriContent,
} from '@lamella/core'
import type { Losses } from '@lamella/core/transport'
import { objectArguments, recordOf, withoutForeignData } from '@lamella/core/transport'
import { fileBlock } from './file-block.ts'
import type { MessagesDialect } from './messages-dialect.ts'

/** The model that a history is prepared for. */
export interface Home {
  readonly provider: string
  readonly model: string | undefined
  readonly dialect: MessagesDialect
}

/** A content as Anthropic may be sent it, or nothing. */
export function ownContent(
  content: Content,
  origin: Origin | undefined,
  home: Home,
  losses: Losses,
): Content | undefined {
  const isOwn = origin?.provider === home.provider
  const from = origin?.provider ?? 'unknown origin'
  switch (content.type) {
    case 'text':
      return content.text.trim() === '' ? undefined : withoutForeignData(content, isOwn)
    case 'refusal':
      // What Anthropic says of a refusal is no part of the conversation.
      return isOwn || content.text.trim() === '' ? undefined : withoutForeignData(content, isOwn)
    case 'reasoning':
      // Without its signature, as in an answer that broke off, it is refused.
      if (isOwn && isSameModel(origin, home)) {
        if (content.protected) return content
        if (home.dialect.unsignedThinking && content.text !== '') return content
      }
      if (content.text !== '' || content.protected) losses.add(`reasoning of ${from} is left out`)
      return undefined
    case 'function-call':
      return legalCall(withoutForeignData(content, isOwn), losses)
    case 'data':
    case 'uri':
      return isKept(content, home, losses) ? withoutForeignData(content, isOwn) : undefined
    case 'function-result':
      return legalResult(withoutForeignData(content, isOwn), home, losses)
    case 'hosted':
      // What the application made itself, in Anthropic's words, has no origin.
      if (recordOf(content.data)['status'] === 'in_progress') return undefined
      if (isOwn || origin === undefined) return content
      losses.add(`what hosted tools of ${from} did is left out`)
      return undefined
    case 'approval-request':
    case 'approval-response':
      if (content.hosted === true) losses.add('approvals of hosted tools are left out')
      return undefined
    case 'error':
    case 'usage':
      return undefined
    default:
      losses.add(`content of type ${String(recordOf(content)['type'])} is left out`)
      return undefined
  }
}

function isSameModel(origin: Origin | undefined, { model }: Home): boolean {
  if (origin?.model === undefined || model === undefined) return true
  return undated(origin.model) === undated(model)
}

function undated(model: string): string {
  return model.replace(/-(\d{8}|latest)$/, '')
}

function isKept(content: DataContent | UriContent, { dialect }: Home, losses: Losses): boolean {
  if (dialect.files && fileBlock(content) !== undefined) return true
  losses.add(`a file of type ${content.mediaType ?? 'unknown'} is left out`)
  return false
}

function legalResult(
  result: FunctionResultContent,
  home: Home,
  losses: Losses,
): FunctionResultContent {
  const contents = result.contents.filter(
    (part) => (part.type !== 'data' && part.type !== 'uri') || isKept(part, home, losses),
  )
  return contents.length === result.contents.length ? result : { ...result, contents }
}

function legalCall(call: FunctionCallContent, losses: Losses): FunctionCallContent {
  const name = /^[\w-]{1,128}$/.test(call.name)
    ? call.name
    : call.name.replace(/[^\w-]+/g, '_').slice(0, 128) || 'tool'
  const text = objectArguments(call.arguments)
  if (name === call.name && text === call.arguments) return call
  if (text !== call.arguments && call.arguments.trim() !== '') {
    losses.add('arguments that are not JSON are wrapped')
  }
  if (name !== call.name) losses.add('names of tools that are not accepted are rewritten')
  return { ...call, name, arguments: text }
}
