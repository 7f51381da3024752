import type { Content, FunctionCallContent, Origin, ReasoningContent } from '@lamella/core'
import type { Losses } from '@lamella/core/transport'
import { objectArguments, recordOf, withoutForeignData } from '@lamella/core/transport'
import { legalName } from './response-format.ts'

/** The API that a history is prepared for. */
export interface Home {
  readonly provider: string
  readonly model: string | undefined
  /** Whether this API takes this reasoning back, given that it made it itself. */
  readonly takesReasoning: (content: ReasoningContent) => boolean
  /** Whether it takes back what its hosted tools did. */
  readonly takesHosted: boolean
}

/** A content as this API may be sent it, or nothing. */
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
    case 'refusal':
      return content.text === '' ? undefined : withoutForeignData(content, isOwn)
    case 'reasoning':
      if (isOwn && isSameModel(origin, home) && home.takesReasoning(content)) return content
      if (content.text !== '' || content.protected) losses.add(`reasoning of ${from} is left out`)
      return undefined
    case 'function-call':
      return legalCall(withoutForeignData(content, isOwn), losses)
    case 'data':
    case 'uri':
    case 'function-result':
      return withoutForeignData(content, isOwn)
    case 'hosted': {
      // What the application made itself, in the provider's words, has no origin.
      if (home.takesHosted && (isOwn || origin === undefined)) return content
      losses.add(`what hosted tools of ${from} did is left out`)
      return undefined
    }
    case 'approval-request':
    case 'approval-response':
      if (content.hosted !== true) return undefined
      if (home.takesHosted) return content
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

function isSameModel(origin: Origin | undefined, { model }: Home): boolean {
  if (origin?.model === undefined || model === undefined) return true
  return undated(origin.model) === undated(model)
}

function undated(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}

function legalCall(call: FunctionCallContent, losses: Losses): FunctionCallContent {
  const name = legalName(call.name)
  const isFreeText = recordOf(call.providerData)['type'] === 'custom'
  // Chat templates of many servers parse the arguments of past calls and fail on what is no object.
  const text = isFreeText ? call.arguments : objectArguments(call.arguments)
  if (name === call.name && text === call.arguments) return call
  if (text !== call.arguments && call.arguments.trim() !== '') {
    losses.add('arguments that are not JSON are wrapped')
  }
  if (name !== call.name) losses.add('names of tools that are not accepted are rewritten')
  return { ...call, name, arguments: text }
}
