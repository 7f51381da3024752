import { googleRecording } from '../../packages/google/fixtures/google-recording.ts'
import { completionsRecording } from '../../packages/openai/fixtures/completions-recording.ts'
import type { Recording } from '../../packages/openai/fixtures/responses-recording.ts'
import { responsesRecording } from '../../packages/openai/fixtures/responses-recording.ts'
import { messagesRecording } from '../../packages/anthropic/fixtures/messages-recording.ts'

/** Answer of one model in a round; `mark` is in all that only its provider understands. */
export interface Said {
  readonly mark: string
  readonly model: string
  readonly round: number
  readonly text: string
  /** Calls `get_weather` for these cities, side by side, in a thinking round. */
  readonly cities?: readonly string[]
  readonly refusal?: string
  /** Thinking of a round with or without calls. @default 'thought' with calls, none without */
  readonly thought?: string
}

/** The words of a model's thinking, if it thinks. */
function thoughtOf({ mark, cities = [], thought }: Said): string | undefined {
  if (thought === undefined && cities.length === 0) return undefined
  return `${mark} ${thought ?? 'thought'}`
}

const tool = 'get_weather'

/** An image of the assistant's own, which only OpenAI's Responses API makes. */
export const drawn =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Ids with a bar in them, as gateways put together, and as long as the API takes them. */
export function responsesAnswer({ mark, model, round, ...said }: Said): Recording {
  const { text, cities = [], refusal } = said
  const id = (prefix: string, number = 1): string => `${prefix}_${mark}_${round}_${number}`
  const part = (value: string): object => ({ type: 'output_text', text: value, annotations: [] })
  const message = {
    id: id('msg'),
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [
      part(''),
      part(text),
      ...(refusal === undefined ? [] : [{ type: 'refusal', refusal }]),
    ],
  }
  const thinking = [
    {
      id: id('rs'),
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: `${mark} thought` }],
      encrypted_content: `${mark} sealed`,
    },
    {
      id: id('ws'),
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: `${mark} query` },
    },
    {
      id: id('ig'),
      type: 'image_generation_call',
      status: 'completed',
      output_format: 'png',
      revised_prompt: `${mark} prompt`,
      result: drawn,
    },
  ]
  const calls = cities.map((city, number) => ({
    id: id('fc', number),
    type: 'function_call',
    status: 'completed',
    call_id: `call_${number}|${'x'.repeat(57)}`,
    name: tool,
    arguments: JSON.stringify({ city }),
    caller: { type: 'program', caller_id: `${mark} program` },
  }))
  const output = cities.length > 0 ? [...thinking, message, ...calls] : [message]
  return responsesRecording(output, { id: id('resp'), model })
}

/** Kimi's ids, which begin anew in every answer; thoughts and signatures of compatible servers. */
export function completionsAnswer(said: Said): Recording {
  const { mark, model, round, text, cities = [], refusal } = said
  const thought = thoughtOf(said)
  const calls = cities.map((city, number) => ({
    id: `functions.${tool}:${number}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify({ city }) },
    extra_content: { google: { thought_signature: `${mark} signature` } },
  }))
  const message = {
    ...(thought !== undefined && { reasoning_content: thought }),
    content: text,
    ...(refusal !== undefined && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  return completionsRecording(message, { id: `chatcmpl-${mark}-${round}`, model, finish })
}

/** An answer of a server of open models that speaks Anthropic's protocol: it signs no thinking. */
export function openMessagesAnswer(said: Said): Recording {
  const { mark, model, round, text, cities = [], refusal } = said
  const thought = thoughtOf(said)
  const calls = cities.map((city, number) => ({
    type: 'tool_use',
    id: `call_${number}`,
    name: tool,
    input: { city },
  }))
  const thinking = thought === undefined ? [] : [{ type: 'thinking', thinking: thought }]
  const words = [text, refusal].flatMap((value) => (value ? [{ type: 'text', text: value }] : []))
  const stop = calls.length > 0 ? 'tool_use' : 'end_turn'
  return messagesRecording([...thinking, ...words, ...calls], {
    id: `msg_${mark}_${round}`,
    model,
    stop,
  })
}

/** Ids as Anthropic's models have them on other clouds, longer than OpenAI takes them. */
export function messagesAnswer(said: Said): Recording {
  const { mark, model, round, text, cities = [], refusal } = said
  const thought = thoughtOf(said)
  const searchId = `srvtoolu_${mark}_${round}`
  const found = { type: 'web_search_result', url: 'https://example.com', title: 'Weather' }
  const thinking = [
    { type: 'thinking', thinking: thought, signature: `${mark} signature` },
    { type: 'redacted_thinking', data: `${mark} redacted` },
    { type: 'server_tool_use', id: searchId, name: 'web_search', input: { query: mark } },
    {
      type: 'web_search_tool_result',
      tool_use_id: searchId,
      content: [{ ...found, encrypted_content: `${mark} sealed`, page_age: null }],
    },
  ]
  const calls = cities.map((city, number) => ({
    type: 'tool_use',
    id: `toolu_vrtx_${number}_${'y'.repeat(70)}`,
    name: tool,
    input: { city },
  }))
  const texts = ['', text].map((value) => ({ type: 'text', text: value, citations: null }))
  const stop = calls.length > 0 ? 'tool_use' : refusal === undefined ? 'end_turn' : 'refusal'
  return messagesRecording([...(thought === undefined ? [] : thinking), ...texts, ...calls], {
    id: `msg_${mark}_${round}`,
    model,
    stop,
    stop_details: refusal === undefined ? null : { type: 'refusal', explanation: refusal },
  })
}

/** The texts of an answer of an API without a word for a refusal: it is said. */
export function textsOf({ text, refusal }: Said): readonly string[] {
  return [text, refusal ?? ''].filter((words) => words !== '')
}

/** Signatures hang on thoughts and on calls, which have no ids. */
export function googleAnswer(said: Said): Recording {
  const { mark, round, cities = [] } = said
  const thought = thoughtOf(said)
  const thoughtSignature = `${mark}-${btoa(`${mark} signature`)}`
  const parts = [
    ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
    ...textsOf(said).map((text) => ({ text })),
    ...cities.map((city) => ({ functionCall: { name: tool, args: { city } }, thoughtSignature })),
  ]
  return googleRecording(parts, { responseId: `${mark}-${round}` })
}
