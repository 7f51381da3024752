import type { ScriptedClient, ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import type {
  AgentResponse,
  Content,
  MessageInput,
  MiddlewareInput,
  RunOptions,
  Tool,
} from '@lamella/core'
import { Agent, jsonSchema, message, text, textOf, tool } from '@lamella/core'
import type { GuardrailSubject, Verdict } from './verdict.ts'

export interface Ran {
  readonly response: AgentResponse
  /** Text that the caller had received at the end. */
  readonly seen: string
  readonly client: ScriptedClient
}

export interface Setup extends Pick<RunOptions, 'session' | 'instructions'> {
  readonly steps?: readonly ScriptedStep[]
  readonly input?: MessageInput
  readonly tools?: readonly Tool[]
}

export async function run(
  stream: boolean,
  middleware: MiddlewareInput,
  setup: Setup = {},
): Promise<Ran> {
  const { steps = ['The answer.'], input = 'Hello', tools = [], ...options } = setup
  const client = scriptedClient(steps)
  const agent = new Agent({ client, tools, middleware })
  if (!stream) {
    const response = await agent.run(input, options)
    return { response, seen: response.text, client }
  }
  const running = agent.run(input, { ...options, stream: true })
  let seen = ''
  for await (const { contents, restart } of running) seen = (restart ? '' : seen) + textOf(contents)
  return { response: await running.finalResponse(), seen, client }
}

export function words(
  action: Verdict['action'],
  more: Partial<Verdict> = {},
): (subject: GuardrailSubject) => Verdict {
  return ({ text: judged }) => {
    const spans = Array.from(judged.matchAll(/secret/g), ({ index }) => ({
      start: index,
      end: index + 6,
    }))
    return spans.length > 0
      ? { action, spans, replacement: '***', category: 'secrets', ...more }
      : { action: 'allow' }
  }
}

export const notes = tool({
  name: 'notes',
  description: 'Reads notes.',
  parameters: jsonSchema({ type: 'object', properties: { about: { type: 'string' } } }),
  execute: ({ about }) => `notes about ${String(about)}: a secret`,
})

export const calls = [callFunction('f', { q: 'a' }, 'c1'), callFunction('g', { q: 'b' }, 'c2')]
export const toolAnswer = message('tool', [
  {
    type: 'function-result',
    callId: 'c1',
    contents: [text('fine')],
    error: { code: 'tool_failed', message: 'a secret' },
  },
  { type: 'function-result', callId: 'c2', contents: [text('fine too')] },
  text('both'),
])

export const image = { type: 'data', mediaType: 'image/png', data: 'AAAA' } satisfies Content
