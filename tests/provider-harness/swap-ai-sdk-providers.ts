import {
  aiSdkProviders as packages,
  framed,
  withoutEmptyChoices,
} from '../../packages/ai-sdk/fixtures/ai-sdk-providers.ts'
import { bedrockRecording } from '../../packages/ai-sdk/fixtures/bedrock-recording.ts'
import type { ModelRecording } from '../../packages/ai-sdk/fixtures/model-recording.ts'
import { play, sseRecording } from '../../packages/ai-sdk/fixtures/model-recording.ts'
import { aiSdk } from '../../packages/ai-sdk/src/index.ts'
import type { ChatClient } from '../../packages/core/src/index.ts'
import { chatMiddleware, withMiddleware } from '../../packages/core/src/index.ts'
import { completionsRecording } from '../../packages/openai/fixtures/completions-recording.ts'
import { responsesRecording } from '../../packages/openai/fixtures/responses-recording.ts'
import { completionsProblems } from './swap-completions-rules.ts'
import { converseProblems } from './swap-converse-rules.ts'
import { googleProblems } from './swap-google-rules.ts'
import type { Wire } from './swap-problems.ts'
import { wire, wires } from './swap-problems.ts'
import type { SwapProvider } from './swap-providers.ts'
import type { Said } from './swap-recordings.ts'
import { googleAnswer, textsOf } from './swap-recordings.ts'
import { responsesProblems } from './swap-responses-rules.ts'

const tool = 'get_weather'

function responses(said: Said): ModelRecording {
  const { mark, model, round, cities = [] } = said
  const id = (prefix: string, number = 1): string => `${prefix}_${mark}_${round}_${number}`
  const thought = {
    id: id('rs'),
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: `${mark} thought` }],
    encrypted_content: `${mark} sealed`,
  }
  const messages = textsOf(said).map((text, number) => ({
    id: id('msg', number),
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }))
  const calls = cities.map((city, number) => ({
    id: id('fc', number),
    type: 'function_call',
    status: 'completed',
    call_id: `call_${number}_${round}${'x'.repeat(50)}`,
    name: tool,
    arguments: JSON.stringify({ city }),
  }))
  const output = [...(cities.length > 0 ? [thought] : []), ...messages, ...calls]
  return sseRecording(responsesRecording(output, { id: id('resp'), model }))
}

function completions(said: Said, thoughts: (mark: string) => Wire = () => ({})): ModelRecording {
  const { mark, model, round, cities = [] } = said
  const calls = cities.map((city, number) => ({
    id: `call${String(round).padStart(4, '0')}${number}`,
    type: 'function',
    function: { name: tool, arguments: JSON.stringify({ city }) },
  }))
  const message = {
    ...(calls.length > 0 && thoughts(mark)),
    content: textsOf(said).join(' '),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const finish = calls.length > 0 ? 'tool_calls' : 'stop'
  return sseRecording(
    completionsRecording(message, { id: `chatcmpl-${mark}-${round}`, model, finish }),
  )
}

/** Ids that begin anew in every answer. */
function converse(said: Said): ModelRecording {
  const { mark, cities = [] } = said
  const reasoningText = { text: `${mark} thought`, signature: `${mark} signature` }
  const blocks = [
    ...(cities.length > 0 ? [{ reasoningContent: { reasoningText } }] : []),
    ...textsOf(said).map((text) => ({ text })),
    ...cities.map((city, number) => ({
      toolUse: { toolUseId: `tooluse_${number}`, name: tool, input: { city } },
    })),
  ]
  return framed(bedrockRecording(blocks, { stop: cities.length > 0 ? 'tool_use' : 'end_turn' }))
}

function open(name: string, origin: string): ChatClient {
  const found = packages.find((provider) => provider.name === name)!
  return aiSdk(found.open(origin))
}

/** Items that OpenAI keeps would go back as ids alone. */
const unstored = chatMiddleware('unstored', async (context, callNext) => {
  const providerOptions = { openai: { store: false, include: ['reasoning.encrypted_content'] } }
  context.options = { ...context.options, providerOptions }
  await callNext()
})

/** For items that are not kept, the package leaves out the ids by which they would follow their reasoning. */
function unlinkedProblems(body: Wire): readonly string[] {
  return responsesProblems(body).filter((problem) => !problem.endsWith('the item it led to'))
}

/**
 * Mistral takes the name of a tool beside its result, the address of an image as a text, and no id of a call
 * but nine letters and digits.
 */
function mistralProblems(body: Wire): readonly string[] {
  const messages = wires(body['messages']).map((message) => {
    const { name: _name, ...result } = message
    if (message['role'] === 'tool') return result
    const { content } = message
    if (!Array.isArray(content)) return message
    const parts = wires(content).map((part) =>
      typeof part['image_url'] === 'string'
        ? { ...part, image_url: { url: part['image_url'] } }
        : part,
    )
    return { ...message, content: parts }
  })
  const ids = messages.flatMap(({ tool_calls: calls }) => wires(calls).map(({ id }) => String(id)))
  const wrong = ids.filter((id) => !/^[a-zA-Z0-9]{9}$/.test(id))
  return [
    ...completionsProblems({ ...body, messages }),
    ...wrong.map((id) => `${id} is no id of a call`),
  ]
}

const ofCompletions = {
  problems: completionsProblems,
  system: (body: Wire) => wires(body['messages'])[0],
}

/** Packages of the AI SDK, each behind `aiSdk`. */
export const aiSdkProviders: readonly SwapProvider[] = [
  {
    name: 'AI SDK OpenAI Responses',
    mark: 'opaque-of-ai-sdk-responses',
    model: 'gpt-5-mini',
    open: (origin) => withMiddleware(open('@ai-sdk/openai 4, Responses', origin), unstored),
    reply: (said) => play(responses(said)),
    problems: unlinkedProblems,
    system: ({ input }) => wires(input)[0],
  },
  {
    name: 'AI SDK OpenAI Chat Completions',
    mark: 'opaque-of-ai-sdk-completions',
    model: 'gpt-5-mini',
    open: (origin) => open('@ai-sdk/openai 4, Chat Completions', origin),
    reply: (said) => play(completions(said)),
    keepsNothing: true,
    ...ofCompletions,
  },
  {
    name: 'AI SDK Google',
    mark: 'opaque-of-ai-sdk-google',
    model: 'gemini-2.5-flash',
    open: (origin) => open('@ai-sdk/google 4', origin),
    reply: (said) => play(sseRecording(googleAnswer(said))),
    problems: googleProblems,
    system: ({ systemInstruction }) => wire(systemInstruction),
    streamsByPath: true,
  },
  {
    name: 'AI SDK Mistral',
    mark: 'opaque-of-ai-sdk-mistral',
    model: 'mistral-large-latest',
    open: (origin) => open('@ai-sdk/mistral 4', origin),
    reply: (said) => play(withoutEmptyChoices(completions(said))),
    keepsNothing: true,
    ...ofCompletions,
    problems: mistralProblems,
  },
  {
    name: 'AI SDK Bedrock',
    mark: 'opaque-of-ai-sdk-bedrock',
    model: 'amazon.nova-pro',
    open: (origin) => open('@ai-sdk/amazon-bedrock 5', origin),
    reply: (said) => play(converse(said)),
    problems: converseProblems,
    system: ({ system }) => wires(system)[0],
    streamsByPath: true,
  },
  {
    name: 'AI SDK compatible server',
    mark: 'opaque-of-ai-sdk-compatible',
    model: 'llama',
    open: (origin) => open('@ai-sdk/openai-compatible 3', origin),
    reply: (said) => play(completions(said, (mark) => ({ reasoning_content: `${mark} thought` }))),
    ...ofCompletions,
  },
]
