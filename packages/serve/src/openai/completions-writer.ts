import type { ChatPart } from '../reader/answer-fold.ts'
import { answerFold } from '../reader/answer-fold.ts'
import type { HttpFailure } from '../http/http-failure.ts'
import type { AnswerHead, Final, OpenAIWriter } from './openai-writer.ts'
import { errorBody, usageOf } from './openai-writer.ts'

type Update = Parameters<ReturnType<typeof answerFold>>[0]

/** Writes an answer as chat completions. https://platform.openai.com/docs/api-reference/chat */
export function completionsWriter(head: AnswerHead, includeUsage: boolean): OpenAIWriter {
  const parts: ChatPart[] = []
  const fold = answerFold(parts)
  const calls: { readonly callId: string; readonly index: unknown }[] = []
  let hasBegun = false
  const shared = { id: `chatcmpl-${head.id}`, created: head.created, model: head.model }
  const chunk = (choices: readonly object[], usage: object | null = null): string =>
    frame({
      ...shared,
      object: 'chat.completion.chunk',
      choices,
      ...(includeUsage && { usage }),
    })
  const delta = (fields: object, finish: string | null = null): string =>
    chunk([{ index: 0, delta: fields, finish_reason: finish }])
  const begin = (): string => {
    if (hasBegun) return ''
    hasBegun = true
    return delta({ role: 'assistant', content: '' })
  }
  const piece = ({ type, text, callId, name, arguments: args, index: given }: ChatPart): string => {
    if (type === 'text') return delta({ content: text })
    if (type === 'refusal') return delta({ refusal: text })
    if (type === 'reasoning') return delta({ reasoning_content: text })
    if (type !== 'function-call') return ''
    const known = calls.findLastIndex((call) =>
      callId ? call.callId === callId : call.index === given,
    )
    if (known >= 0) {
      return delta({ tool_calls: [{ index: known, function: { arguments: args } }] })
    }
    const index = calls.push({ callId: callId ?? '', index: given }) - 1
    const called = { index, id: callId, type: 'function', function: { name, arguments: args } }
    return delta({ tool_calls: [called] })
  }
  return {
    add(update) {
      fold(update as Update)
      const isAnswer = update.role === undefined || update.role === 'assistant'
      if (!isAnswer || update.contents.length === 0) return ''
      return begin() + (update.contents as readonly ChatPart[]).map(piece).join('')
    },
    end(final) {
      const usage = includeUsage ? chunk([], usageOf(final.usage, names)) : ''
      return `${begin()}${delta({}, finishOf(final))}${usage}data: [DONE]\n\n`
    },
    fail: (failure: HttpFailure) => frame(errorBody(failure)),
    whole(final) {
      const said = (type: string): string | null => {
        const found = parts.filter((part) => part.type === type)
        return found.length === 0 ? null : found.map(({ text = '' }) => text).join('')
      }
      const called = parts.filter(({ type }) => type === 'function-call')
      const reasoning = said('reasoning')
      const message = {
        role: 'assistant',
        content: said('text'),
        refusal: said('refusal'),
        ...(reasoning !== null && { reasoning_content: reasoning }),
        ...(called.length > 0 && {
          tool_calls: called.map(({ callId, name, arguments: args }) => ({
            id: callId,
            type: 'function',
            function: { name, arguments: args },
          })),
        }),
      }
      return {
        ...shared,
        object: 'chat.completion',
        choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(final) }],
        usage: usageOf(final.usage, names),
      }
    },
  }
}

const names = ['prompt', 'completion'] as const

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function finishOf({ status, finishReason }: Final): string {
  if (status === 'blocked' || finishReason === 'content-filter') return 'content_filter'
  if (status === 'budget_exhausted' || finishReason === 'length') return 'length'
  if (status === undefined && finishReason === 'tool-calls') return 'tool_calls'
  return 'stop'
}
