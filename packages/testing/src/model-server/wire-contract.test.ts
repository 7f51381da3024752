import type { ChatRequest, ChatResponse, ChatResponseUpdate, Message } from '@lamella/core'
import { BaseChatClient, chatResponse, textOf } from '@lamella/core'
import { describe, expect, test } from 'vitest'
import type { ContractSuite } from '../contracts/contract-suite.ts'
import { completionsContract } from './completions-contract.ts'
import { messagesContract } from './messages-contract.ts'

interface Made {
  id: string
  name: string
  arguments: string
}

/** A client as one writes it in an hour: calls by their index, nothing of the thinking, every stream ends well. */
class NaiveClient extends BaseChatClient {
  readonly provider = 'naive'
  readonly #baseURL: string

  constructor(baseURL: string) {
    super({ model: 'm' })
    this.#baseURL = baseURL
  }

  async respond(request: ChatRequest): Promise<ChatResponse> {
    const { choices } = JSON.parse(await this.#send(request, false))
    const { content, tool_calls: calls = [] } = choices[0].message
    const made = calls.map((call: { id: string; function: Made }) => ({
      ...call.function,
      id: call.id,
    }))
    return chatResponse({ messages: [{ role: 'assistant', contents: contentsOf(content, made) }] })
  }

  async *stream(request: ChatRequest): AsyncGenerator<ChatResponseUpdate> {
    const made: Made[] = []
    let text = ''
    for (const line of (await this.#send(request, true)).split('\n\n')) {
      if (!line.startsWith('data: {')) continue
      const { delta } = JSON.parse(line.slice(6)).choices?.[0] ?? {}
      text += delta?.content ?? ''
      for (const { index, id, function: piece } of delta?.tool_calls ?? []) {
        const call = (made[index] ??= { id: '', name: '', arguments: '' })
        call.id ||= id ?? ''
        call.name ||= piece.name ?? ''
        call.arguments += piece.arguments
      }
    }
    yield { contents: contentsOf(text, made) }
  }

  async #send({ messages }: ChatRequest, stream: boolean): Promise<string> {
    const body = JSON.stringify({ model: 'm', stream, messages: messages.flatMap(toWire) })
    const response = await fetch(`${this.#baseURL}/chat/completions`, { method: 'POST', body })
    return response.text()
  }
}

function contentsOf(text: string | null, made: readonly Made[]) {
  return [
    ...(text ? [{ type: 'text' as const, text }] : []),
    ...made.map(({ id, ...call }) => ({ type: 'function-call' as const, callId: id, ...call })),
  ]
}

function toWire({ role, contents }: Message): unknown {
  const calls = contents.flatMap((content) =>
    content.type === 'function-call'
      ? [{ id: content.callId, type: 'function', function: content }]
      : [],
  )
  const results = contents.flatMap((content) =>
    content.type === 'function-result'
      ? [{ role, tool_call_id: content.callId, content: textOf(content.contents) }]
      : [],
  )
  if (results.length > 0) return results
  return { role, content: textOf(contents), ...(calls.length > 0 && { tool_calls: calls }) }
}

async function violations({ checks }: ContractSuite): Promise<readonly string[]> {
  const failed: string[] = []
  for (const check of checks) await check.run().catch(() => failed.push(check.name))
  return failed
}

describe('the contract of Chat Completions', () => {
  test('finds what a client that goes by the index alone gets wrong', async () => {
    const contract = completionsContract({ create: ({ baseURL }) => new NaiveClient(baseURL) })

    expect(await violations(contract)).toEqual([
      'separates calls that share an index',
      'creates an id for each call without one',
      'reads arguments that are an object',
      'fails if the arguments of a call are cut',
      'fails for an error inside a stream',
      'sends a result for an unanswered call',
      'sends the reasoning of an iteration back',
    ])
  })

  test('leaves out what `except` names', () => {
    const name = 'sends the reasoning of an iteration back'
    const create = () => new NaiveClient('')

    const { checks } = completionsContract({ create, except: [name] })

    expect(checks.map((check) => check.name)).not.toContain(name)
    expect(() => completionsContract({ create, except: ['no check'] })).toThrow(RangeError)
  })
})

test('the contract of Messages refuses a client of another protocol', async () => {
  const contract = messagesContract({ create: ({ baseURL }) => new NaiveClient(baseURL) })

  expect(await violations(contract)).toEqual(contract.checks.map(({ name }) => name))
})
