import type { Content, FunctionResultContent, Message } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'
import { filePart, fitsResult } from '../history/file-part.ts'
import { modelFamily } from '../history/google-history.ts'
import type { ModelTraits } from '../models/model-traits.ts'
import { toolNameFor } from './tool-names.ts'

/** One turn of a conversation. */
export interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: WireObject[]
}

/** Facts that decide how a history is written. */
export interface ContentRules {
  readonly provider: string
  readonly model: string | undefined
  readonly traits: ModelTraits
  /** True if calls and results are sent with their ids. */
  readonly hasCallIds: boolean
}

/**
 * A documented stand-in for the signature of a call that this model has not made.
 * https://ai.google.dev/gemini-api/docs/thought-signatures#faqs, 2026-11.
 */
const noSignature = 'skip_thought_signature_validator'

/** A prepared history in Google's words, without the system messages: turns of one role are one. */
export function toContents(history: readonly Message[], rules: ContentRules): readonly Turn[] {
  const turns: Turn[] = []
  let shown: WireObject[] = []
  for (const message of history) {
    const { role, contents, origin } = message
    if (role === 'system') continue
    if (role === 'tool') {
      addTurn(turns, 'user', resultParts(contents, rules))
      continue
    }
    addTurn(turns, 'user', shown)
    shown = []
    if (role === 'user') {
      addTurn(turns, 'user', contents.flatMap(userPart))
      continue
    }
    addTurn(turns, 'model', modelParts(contents, origin, rules))
    // Images that another model made are shown to this one.
    shown = contents.flatMap((content) =>
      isShown(content, origin, rules) ? userPart(content) : [],
    )
  }
  addTurn(turns, 'user', shown)
  return rules.traits.isModern ? turns.map(withSignature) : turns
}

/** The texts of system messages. */
export function systemTexts(history: readonly Message[]): readonly string[] {
  return history.flatMap(({ role, contents }) =>
    role === 'system' ? contents.flatMap((content) => textOf(content)) : [],
  )
}

function addTurn(turns: Turn[], role: Turn['role'], parts: readonly WireObject[]): void {
  const last = turns.at(-1)
  if (parts.length === 0) return
  if (last?.role === role) last.parts.push(...parts)
  else turns.push({ role, parts: [...parts] })
}

function userPart(content: Content): readonly WireObject[] {
  if (content.type === 'data' || content.type === 'uri') return fileParts(content)
  if (content.type === 'hosted') return hostedPart(content.data)
  return textOf(content).map((text) => ({ text }))
}

function modelParts(
  contents: readonly Content[],
  origin: Origin | undefined,
  rules: ContentRules,
): readonly WireObject[] {
  const parts: WireObject[] = []
  for (const content of contents) {
    const signature = signatureOf(content, origin, rules)
    switch (content.type) {
      case 'reasoning': {
        const { text, protected: sealed, providerData } = content
        const signed = sealed && { thoughtSignature: sealed }
        const isOfText = recordOf(providerData)['of'] === 'text'
        if (!isOfText) parts.push({ text, thought: true, ...signed })
        else if (typeof parts.at(-1)?.['text'] === 'string')
          parts.push({ ...parts.pop(), ...signed })
        else parts.push({ text: '', ...signed })
        break
      }
      case 'function-call':
        parts.push({
          functionCall: {
            ...(rules.hasCallIds && { id: content.callId }),
            name: toolNameFor(content.name),
            args: JSON.parse(content.arguments),
          },
          ...signature,
        })
        break
      case 'data':
      case 'uri':
        if (isShown(content, origin, rules)) break
        parts.push(...fileParts(content).map((part) => ({ ...part, ...signature })))
        break
      case 'hosted': {
        const part = recordOf(content.data)
        const { thoughtSignature: sealed, ...rest } = part
        parts.push(
          ...hostedPart(sealed !== undefined && !isOfModel(content, origin, rules) ? rest : part),
        )
        break
      }
      default:
        parts.push(...textOf(content).map((text) => ({ text })))
    }
  }
  return parts
}

function fileParts(content: Content): readonly WireObject[] {
  const isFile = content.type === 'data' || content.type === 'uri'
  const part = isFile ? filePart(content) : undefined
  return part === undefined ? [] : [part]
}

/** A part in Google's own words. */
function hostedPart(data: unknown): readonly WireObject[] {
  return Object.keys(recordOf(data)).length === 0 ? [] : [recordOf(data)]
}

function isShown(
  content: Content,
  origin: Origin | undefined,
  { provider }: ContentRules,
): boolean {
  const isFile = content.type === 'data' || content.type === 'uri'
  return isFile && (content.origin ?? origin)?.provider !== provider
}

/** The signature of a part, if this model has made it. */
function signatureOf(
  content: Content,
  origin: Origin | undefined,
  rules: ContentRules,
): { readonly thoughtSignature?: string } {
  const sealed = stringOf(recordOf(content.providerData)['thoughtSignature'])
  return sealed !== undefined && isOfModel(content, origin, rules)
    ? { thoughtSignature: sealed }
    : {}
}

function isOfModel(content: Content, origin: Origin | undefined, rules: ContentRules): boolean {
  const maker = content.origin ?? origin
  if (maker?.provider !== rules.provider) return false
  if (maker.model === undefined || rules.model === undefined) return true
  return modelFamily(maker.model) === modelFamily(rules.model)
}

/** In each turn, the first call must have a signature. */
function withSignature({ role, parts }: Turn): Turn {
  const first = parts.findIndex(({ functionCall }) => functionCall !== undefined)
  if (role !== 'model' || first === -1) return { role, parts }
  return { role, parts: parts.with(first, { thoughtSignature: noSignature, ...parts[first] }) }
}

/** As many results as calls, in their order, and the files behind them where results hold none. */
function resultParts(contents: readonly Content[], rules: ContentRules): readonly WireObject[] {
  const results = contents.filter((content) => content.type === 'function-result')
  const files: WireObject[] = []
  const parts = results.map((result) => {
    const { callId, name = '' } = result
    const ofResult = result.contents.flatMap(fileParts)
    const inside = ofResult.filter((part) => rules.traits.isModern && fitsResult(part))
    const behind = ofResult.filter((part) => !inside.includes(part))
    if (behind.length > 0) files.push({ text: `Files of the result of ${name}:` }, ...behind)
    return {
      functionResponse: {
        ...(rules.hasCallIds && { id: callId }),
        name: toolNameFor(name),
        response: responseOf(result),
        ...(inside.length > 0 && { parts: inside }),
      },
    }
  })
  return [...parts, ...files]
}

function responseOf({ contents, error }: FunctionResultContent): WireObject {
  // Joined as it is: white space between two texts is a part of the result.
  const text = contents
    .map((part) => (part.type === 'text' || part.type === 'refusal' ? part.text : ''))
    .join('')
  if (error === undefined) return { output: text }
  return { error: text === '' ? `The tool failed: ${error.code}.` : text }
}

function textOf(content: Content): readonly string[] {
  const isText = content.type === 'text' || content.type === 'refusal'
  return isText && content.text.trim() !== '' ? [content.text] : []
}
