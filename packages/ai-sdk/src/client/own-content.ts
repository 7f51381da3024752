import type { Content, FunctionCallContent, Origin } from '@lamella/core'
import type { Losses } from '@lamella/core/transport'
import { objectArguments, recordOf, withoutForeignData } from '@lamella/core/transport'
import { hostedPart } from './hosted-part.ts'

/** A content as the model of `home` may be sent it, or nothing. */
export function ownContent(
  content: Content,
  origin: Origin | undefined,
  home: Origin,
  losses: Losses,
): Content | undefined {
  const isOwn = origin?.provider === home.provider
  const from = origin?.provider ?? 'unknown origin'
  switch (content.type) {
    case 'text':
    case 'refusal':
      return content.text.trim() === '' ? undefined : withoutForeignData(content, isOwn)
    case 'reasoning':
      if (isOwn && (origin.model ?? home.model) === home.model) return content
      if (content.text !== '' || content.protected) losses.add(`reasoning of ${from} is left out`)
      return undefined
    case 'function-call':
      return legalCall(withoutForeignData(content, isOwn), losses)
    case 'data':
    case 'uri':
    case 'function-result':
      return withoutForeignData(content, isOwn)
    case 'hosted':
      if (recordOf(content.data)['type'] === 'source') return undefined
      // What the application made itself, in the words of the AI SDK, has no origin.
      if ((isOwn || origin === undefined) && hostedPart(content.data) !== undefined) return content
      losses.add(`what hosted tools of ${from} did is left out`)
      return undefined
    case 'approval-request':
    case 'approval-response':
      if (content.hosted !== true) return undefined
      if (isOwn || origin === undefined) return content
      losses.add('approvals of hosted tools are left out')
      return undefined
    case 'error':
    case 'usage':
      return undefined
    default:
      losses.add(`content of type ${String(recordOf(content)['type'])} is left out`)
      return undefined
  }
}

function legalCall(call: FunctionCallContent, losses: Losses): FunctionCallContent {
  const name = /^[\w-]{1,64}$/.test(call.name)
    ? call.name
    : call.name.replace(/[^\w-]+/g, '_').slice(0, 64) || 'tool'
  const text = objectArguments(call.arguments)
  if (name === call.name && text === call.arguments) return call
  if (text !== call.arguments && call.arguments.trim() !== '') {
    losses.add('arguments that are not JSON are wrapped')
  }
  if (name !== call.name) losses.add('names of tools that are not accepted are rewritten')
  return { ...call, name, arguments: text }
}
