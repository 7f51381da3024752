import type { Annotation } from '@lamella/core/authoring'
import type { ChatResponse, Content } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import { toBase64 } from '@lamella/core/authoring'
import { linkText } from '../client/tool-output.ts'
import { fromFinish } from '../model/finish-reason.ts'
import { callData } from '../model/call-data.ts'
import type { AiSdkVersion } from '../model/language-model.ts'
import { fromUsage } from '../model/model-usage.ts'

const hostedTypes = new Set<unknown>([
  'tool-call',
  'tool-result',
  'custom',
  'reasoning-file',
  'source',
])

/** The parts of an answer that a content is, its sources behind it. */
export function answerParts(content: Content, version: AiSdkVersion): readonly WireObject[] {
  const metadata = metadataOf(content.providerData)
  switch (content.type) {
    case 'text':
    case 'refusal': {
      const { text, annotations = [] } = content
      const cited = version === 'v4' ? citationsOf(annotations) : []
      const citations = cited.length > 0 ? { citations: cited } : {}
      return [{ type: 'text', text, ...citations, ...metadata }, ...sourcesOf(annotations)]
    }
    case 'reasoning':
      return [{ type: 'reasoning', text: content.text, ...metadata }]
    case 'function-call': {
      const { callId, name: toolName, arguments: input, informational, providerData } = content
      if (informational === true) return []
      // The AI SDK gets the model's own id, as without this middleware.
      const { id: toolCallId = callId, metadata: own } = callData(providerData)
      const dynamic = content.metadata?.['dynamic'] === true ? { dynamic: true } : {}
      return [{ type: 'tool-call', toolCallId, toolName, input, ...dynamic, ...metadataOf(own) }]
    }
    case 'data': {
      const data = toBase64(content.data)
      const file = { type: 'file', mediaType: content.mediaType, ...metadata }
      return [{ ...file, data: version === 'v4' ? { type: 'data', data } : data }]
    }
    case 'uri': {
      const { uri, mediaType = 'image/*' } = content
      // Before version 4, a file of an answer is its bytes.
      if (version !== 'v4' || !URL.canParse(uri)) return [{ type: 'text', text: linkText(uri) }]
      return [{ type: 'file', mediaType, data: { type: 'url', url: new URL(uri) }, ...metadata }]
    }
    case 'hosted': {
      const part = recordOf(content.data)
      return hostedTypes.has(part['type']) ? [part] : []
    }
    case 'approval-request':
      if (content.hosted !== true) return []
      return [
        {
          type: 'tool-approval-request',
          approvalId: content.id,
          toolCallId: content.call.callId,
          ...metadata,
        },
      ]
    default:
      return []
  }
}

/** Sources of a whole text, which the AI SDK has as parts of their own. */
export function sourcesOf(annotations: readonly Annotation[]): readonly WireObject[] {
  return annotations.flatMap(({ type, metadata }) => {
    const source = recordOf(metadata?.['source'])
    return type === 'source' && source['type'] === 'source' ? [source] : []
  })
}

/** Citations of passages, which the AI SDK has at the end of a text. */
export function citationsOf(annotations: readonly Annotation[]): readonly WireObject[] {
  return annotations.flatMap(({ type, start, end, metadata }) => {
    const source = recordOf(metadata?.['source'])
    if (type !== 'citation' || source['type'] !== 'source') return []
    const citedText = stringOf(metadata?.['citedText'])
    return {
      source,
      ...(start !== undefined && { startIndex: start }),
      ...(end !== undefined && { endIndex: end }),
      ...(citedText !== undefined && { citedText }),
    }
  })
}

/** Data of content as metadata of a part, if it is that: other clients keep other data there. */
export function metadataOf(data: unknown): { readonly providerMetadata?: WireObject } {
  const record = recordOf(data)
  const values = Object.values(record)
  const isMetadata = values.length > 0 && values.every((value) => recordOf(value) === value)
  return isMetadata ? { providerMetadata: record } : {}
}

/** How an answer ended and what it cost, as its `finish` part has it. */
export function finishFields(response: ChatResponse, version: AiSdkVersion): WireObject {
  const { functionCalls, metadata, usage } = response
  const reason = response.finishReason ?? (functionCalls.length > 0 ? 'tool-calls' : 'stop')
  const { providerMetadata } = metadata
  return {
    finishReason: fromFinish(reason, stringOf(metadata['finishReason']), version),
    usage: fromUsage(usage, version, metadata['usage']),
    ...(providerMetadata !== undefined && { providerMetadata }),
  }
}

/** Warnings about settings that had no effect. */
export function warningsOf(metadata: ChatResponse['metadata'] | undefined): readonly unknown[] {
  return listOf(metadata?.['warnings'])
}

/** A plain answer as the result of `doGenerate`. */
export function generateResult(response: ChatResponse, version: AiSdkVersion): WireObject {
  const { messages, metadata, id, model } = response
  const said = messages.filter(({ role }) => role === 'assistant')
  const createdAt = said[0]?.createdAt
  // Gone where middleware changed the content: what was taken out is in there.
  const { request, response: answered, structuredOutputText } = recordOf(response.raw)
  return {
    content: said.flatMap(({ contents }) =>
      contents.flatMap((content) => answerParts(content, version)),
    ),
    ...finishFields(response, version),
    warnings: warningsOf(metadata),
    ...(structuredOutputText !== undefined && { structuredOutputText }),
    ...(request !== undefined && { request }),
    response: {
      ...recordOf(answered),
      ...(id !== undefined && { id }),
      ...(model !== undefined && { modelId: model }),
      ...(createdAt !== undefined && { timestamp: new Date(createdAt) }),
    },
  }
}
