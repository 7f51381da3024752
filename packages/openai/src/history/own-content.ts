import type {
  Content,
  DataContent,
  FunctionCallContent,
  FunctionResultContent,
  Origin,
  ReasoningContent,
  UriContent,
} from '@lamella/core'
import type { Losses } from '@lamella/core/transport'
import { objectArguments, recordOf, withoutForeignData } from '@lamella/core/transport'
import type { FileLoss } from '../requests/file-source.ts'
import { legalName } from '../requests/response-format.ts'

/** The API that a history is prepared for. */
export interface Home {
  readonly provider: string
  readonly model: string | undefined
  /**
   * Decides about thinking that this provider's model made: it goes back, is left out since the
   * server does not want it, or is lost.
   */
  readonly reasoning: (content: ReasoningContent) => 'kept' | 'unwanted' | 'lost'
  /** True if it takes back what its hosted tools did. */
  readonly takesHosted: boolean
  /** True if the application may pass parts in the provider's own words, as `hosted` contents without an origin. */
  readonly takesRawParts: boolean
  /** True if a refusal has a field of its own. Elsewhere, it goes back as text. */
  readonly takesRefusals: boolean
  /** How a file changes that this API does not take as it is. */
  readonly fileLoss: (content: DataContent | UriContent) => FileLoss | undefined
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
    case 'refusal':
      if (!home.takesRefusals && content.text !== '') return { type: 'text', text: content.text }
      return content.text === '' ? undefined : withoutForeignData(content, isOwn)
    case 'text':
      return content.text === '' ? undefined : withoutForeignData(content, isOwn)
    case 'reasoning': {
      const fate = isOwn && isSameModel(origin, home) ? home.reasoning(content) : 'lost'
      if (fate === 'kept') return content
      const isEmpty = content.text === '' && !content.protected
      if (fate === 'lost' && !isEmpty) losses.add(`reasoning of ${from} is left out`)
      return undefined
    }
    case 'function-call':
      return legalCall(withoutForeignData(content, isOwn), losses)
    case 'data':
    case 'uri':
      return isKept(content, home, losses) ? withoutForeignData(content, isOwn) : undefined
    case 'function-result':
      return keptResult(withoutForeignData(content, isOwn), home, losses)
    case 'hosted': {
      // What the application made itself, in the provider's words, has no origin.
      if (origin === undefined ? home.takesRawParts : home.takesHosted && isOwn) return content
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

function isKept(content: DataContent | UriContent, home: Home, losses: Losses): boolean {
  const loss = home.fileLoss(content)
  if (loss !== undefined) losses.add(loss.words)
  return loss?.isLeftOut !== true
}

function keptResult(
  result: FunctionResultContent,
  home: Home,
  losses: Losses,
): FunctionResultContent {
  const contents = result.contents.filter(
    (part) => (part.type !== 'data' && part.type !== 'uri') || isKept(part, home, losses),
  )
  return contents.length === result.contents.length ? result : { ...result, contents }
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
