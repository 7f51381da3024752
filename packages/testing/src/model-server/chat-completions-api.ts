import { cutText } from '../base/chunking.ts'
import { asList, asRecord, asString } from './json-access.ts'
import type { ModelTurn } from './model-conversation.ts'
import type { WireApi, WireObject, WireReply } from './wire-api.ts'
import { standInModel } from './wire-api.ts'
import { WireRejection } from './wire-rejection.ts'
import {
  demandParameter,
  readCall,
  readFormat,
  readLimit,
  readToolChoice,
  readTools,
  textOfParts,
} from './wire-request.ts'

/** https://platform.openai.com/docs/api-reference/chat, as openai 7.57 reads and writes it. */
export const chatCompletionsApi: WireApi = {
  read(body) {
    demandParameter(body, 'model')
    const messages = asList(demandParameter(body, 'messages')).map(asRecord)
    if (messages.length === 0) {
      throw new WireRejection(400, "Invalid 'messages': empty array.", { param: 'messages' })
    }
    if (typeof body['n'] === 'number' && body['n'] > 1) {
      throw new WireRejection(400, 'The stand-in answers with one choice only.', { param: 'n' })
    }
    checkToolMessages(messages)
    const tools = readTools(body, (tool) => asRecord(tool['function']))
    const stop = body['stop']
    return {
      instructions: messages.filter(isInstruction).map(textOfMessage).join('\n'),
      turns: messages.filter((message) => !isInstruction(message)).map(readTurn),
      tools,
      toolChoice: readToolChoice(body['tool_choice'], tools),
      parallelCalls: body['parallel_tool_calls'] !== false,
      format: readFormat(asRecord(body['response_format'])),
      maxTokens: readLimit(body, 'max_completion_tokens', 'max_tokens'),
      stop: typeof stop === 'string' ? [stop] : asList(stop).map(asString),
    }
  },

  whole(reply) {
    const { answer } = reply
    const calls = callsOf(reply)
    const message = {
      role: 'assistant',
      content: answer.text ?? null,
      ...(calls.length > 0 && { tool_calls: calls }),
      refusal: answer.refusal ?? null,
      annotations: [],
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: finishReason(reply) }
    return { ...head(reply, 'chat.completion'), choices: [choice], usage: usageOf(reply) }
  },

  events(reply) {
    const { answer, request, chunkChars } = reply
    const withUsage = asRecord(request['stream_options'])['include_usage'] === true
    const chunk = (choices: readonly unknown[], usage: unknown = null): string =>
      frame({
        ...head(reply, 'chat.completion.chunk'),
        choices,
        ...(withUsage && { usage }),
      })
    const delta = (value: WireObject, finish: string | null = null): string =>
      chunk([{ index: 0, delta: value, logprobs: null, finish_reason: finish }])

    return [
      delta({ role: 'assistant', content: answer.text === undefined ? null : '', refusal: null }),
      ...cutText(answer.text ?? '', chunkChars)
        .filter((piece) => piece !== '')
        .map((content) => delta({ content })),
      ...cutText(answer.refusal ?? '', chunkChars)
        .filter((piece) => piece !== '')
        .map((refusal) => delta({ refusal })),
      ...callsOf(reply).flatMap(({ id, type, function: { name, arguments: args } }, index) => [
        delta({ tool_calls: [{ index, id, type, function: { name, arguments: '' } }] }),
        ...cutText(args, chunkChars)
          .filter((piece) => piece !== '')
          .map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      delta({}, finishReason(reply)),
      ...(withUsage ? [chunk([], usageOf(reply))] : []),
      'data: [DONE]\n\n',
    ]
  },

  errorEvents(message) {
    return [frame({ error: { message, type: 'server_error', param: null, code: 'server_error' } })]
  },
}

function frame(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function head({ ids, createdAt }: WireReply, object: string): WireObject {
  return {
    id: `chatcmpl-${ids.response}`,
    object,
    created: createdAt,
    model: standInModel,
    service_tier: 'default',
    system_fingerprint: null,
  }
}

function callsOf({ answer, ids }: WireReply): readonly {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}[] {
  return (answer.calls ?? []).map(({ name, arguments: args }, index) => ({
    id: `call_${ids.conversation}_${index}`,
    type: 'function',
    function: { name, arguments: args },
  }))
}

function finishReason({ answer }: WireReply): string {
  if (answer.cut !== undefined) return answer.cut === 'length' ? 'length' : 'content_filter'
  return (answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop'
}

function usageOf({ usage }: WireReply): WireObject {
  const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

function isInstruction({ role }: { readonly role?: unknown }): boolean {
  return role === 'system' || role === 'developer'
}

function textOfMessage(message: WireObject): string {
  return textOfParts(message['content']) || asString(message['refusal'])
}

function readTurn(message: WireObject, index: number): ModelTurn {
  const text = textOfMessage(message)
  switch (message['role']) {
    case 'user':
      return { role: 'user', text, calls: [] }
    case 'assistant': {
      const calls = asList(message['tool_calls']).map(asRecord)
      const param = `messages.[${index}].tool_calls`
      return {
        role: 'assistant',
        text,
        calls: calls.map((call) => readCall(call['id'], asRecord(call['function']), param)),
      }
    }
    case 'tool':
      return { role: 'tool', text, calls: [], callId: asString(message['tool_call_id']) }
    default:
      throw new WireRejection(
        400,
        `Invalid value: '${String(message['role'])}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
        { code: 'invalid_value', param: `messages[${index}].role` },
      )
  }
}

/** Each call must be answered before anything else is said, and nothing but calls is answered. */
function checkToolMessages(messages: readonly WireObject[]): void {
  let open = new Set<string>()
  const checkAnswered = (index: number): void => {
    if (open.size === 0) return
    throw new WireRejection(
      400,
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
        `'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
      { param: `messages.[${index}].role` },
    )
  }
  for (const [index, message] of messages.entries()) {
    if (message['role'] !== 'tool') {
      checkAnswered(index)
      open = new Set(asList(message['tool_calls']).map((call) => asString(asRecord(call)['id'])))
    } else if (!open.delete(asString(message['tool_call_id']))) {
      throw new WireRejection(
        400,
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        { param: `messages.[${index}].role` },
      )
    }
  }
  checkAnswered(messages.length)
}
