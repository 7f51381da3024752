import type {
  Content,
  DataContent,
  FunctionCallContent,
  FunctionResultContent,
  UriContent,
} from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { HistoryRules } from './history-rules.ts'
import type { Losses } from './losses.ts'
import { objectArguments } from './object-arguments.ts'
import { withoutForeignData } from './own-messages.ts'
import { recordOf } from '../wire/wire.ts'

/** Returns a content as these rules let it be sent, or nothing. */
export function ownContent(
  content: Content,
  origin: Origin | undefined,
  rules: HistoryRules,
  losses: Losses,
): Content | undefined {
  const isOwn = origin?.provider === rules.provider
  const from = origin?.provider ?? 'unknown origin'
  const maker = isOwn ? 'provider' : origin === undefined ? 'application' : 'other'
  switch (content.type) {
    case 'text':
      return isSaid(content.text, rules) ? withoutForeignData(content, isOwn) : undefined
    case 'refusal': {
      const said = isSaid(content.text, rules) ? rules.refusal(content, isOwn) : undefined
      return said && withoutForeignData(said, isOwn)
    }
    case 'reasoning': {
      const fate = isOwn && isSameModel(origin, rules) ? rules.reasoning(content) : 'lost'
      if (fate === 'kept') return content
      const isEmpty = content.text === '' && !content.protected
      if (fate === 'lost' && !isEmpty) losses.add(`reasoning of ${from} is left out`)
      return undefined
    }
    case 'function-call':
      return legalCall(withoutForeignData(content, isOwn), rules, losses)
    case 'data':
    case 'uri':
      return isKept(content, rules, losses) ? withoutForeignData(content, isOwn) : undefined
    case 'function-result':
      return legalResult(withoutForeignData(content, isOwn), rules, losses)
    case 'hosted': {
      const fate = rules.hosted(content, maker)
      if (fate === 'kept') return content
      if (fate === 'lost') losses.add(`what hosted tools of ${from} did is left out`)
      return undefined
    }
    case 'approval-request':
    case 'approval-response':
      if (content.hosted !== true) return undefined
      if (rules.takesApprovals(maker)) return content
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

function isSaid(text: string, { takesBlankText = false }: HistoryRules): boolean {
  return (takesBlankText ? text : text.trim()) !== ''
}

function isSameModel(origin: Origin, { model, modelFamily = (name) => name }: HistoryRules) {
  if (origin.model === undefined || model === undefined) return true
  return modelFamily(origin.model) === modelFamily(model)
}

function isKept(
  content: DataContent | UriContent,
  { fileLoss }: HistoryRules,
  losses: Losses,
): boolean {
  const loss = fileLoss(content)
  if (loss !== undefined) losses.add(loss.words)
  return loss?.isLeftOut !== true
}

function legalResult(
  result: FunctionResultContent,
  rules: HistoryRules,
  losses: Losses,
): FunctionResultContent {
  const contents = result.contents.filter(
    (part) => (part.type !== 'data' && part.type !== 'uri') || isKept(part, rules, losses),
  )
  return { ...result, contents }
}

function legalCall(
  call: FunctionCallContent,
  { longestToolName }: HistoryRules,
  losses: Losses,
): FunctionCallContent {
  const name = legalName(call.name, longestToolName) || 'tool'
  const isFreeText = recordOf(call.providerData)['type'] === 'custom'
  // Chat templates of many servers parse the arguments of past calls and fail on what is no object.
  const text = isFreeText ? call.arguments : objectArguments(call.arguments)
  if (text !== call.arguments && call.arguments.trim() !== '') {
    losses.add('arguments that are not JSON are wrapped')
  }
  if (name !== call.name) losses.add('names of tools that are not accepted are rewritten')
  return { ...call, name, arguments: text }
}

/** Returns a name of letters, digits, `_` and `-`, at most `longest` of them. */
export function legalName(name: string, longest: number): string {
  return name.replace(/[^\w-]+/g, '_').slice(0, longest)
}
