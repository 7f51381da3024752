import type { ChatResponse } from '@lamella/core'
import { foldUpdates, message } from '@lamella/core'
import type { ClientCheck } from './client-check.ts'
import { hasText, request, say } from './client-check.ts'
import { collect } from '../scripted/client-request.ts'
import { demand, demandSame } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import { frozenCopy } from '../base/frozen-copy.ts'

/** Checks how a client reads answers. */
export function clientAnswerChecks(check: ClientCheck): readonly ContractCheck[] {
  return [
    check('names its provider', say, async (client) => {
      demand(
        typeof client.provider === 'string' && client.provider !== '',
        '`provider` must be a name',
      )
      demand(Array.isArray(client.middleware), '`middleware` must be a list')
    }),

    check('answers with the text, a finish reason, usage and a model', say, async (client) => {
      const response = await client.respond(request())

      demandSame(response.text, say.text, 'the text')
      demandSame(response.finishReason, 'stop', '`finishReason`')
      demandAnswer(response)
    }),

    check('streams the same answer in pieces', say, async (client) => {
      const plain = await client.respond(request())
      const updates = await collect(client.stream(request()))
      const streamed = foldUpdates(updates)

      demand(updates.filter(hasText).length > 1, 'a stream must pass pieces on as they come')
      demandSame(essence(streamed), essence(plain), 'the streamed answer')
      demandAnswer(streamed)
    }),

    check('returns the calls as the model made them', call, async (client) => {
      for (const response of [
        await client.respond(request()),
        foldUpdates(await collect(client.stream(request()))),
      ]) {
        demandSame(
          response.functionCalls.map((made) => ({ name: made.name, arguments: made.arguments })),
          call.calls,
          'the calls',
        )
        demandSame(response.finishReason, 'tool-calls', '`finishReason`')
        const ids = new Set(response.functionCalls.map(({ callId }) => callId))
        demand(
          ids.size === call.calls.length && !ids.has(''),
          'each call must have an id of its own',
        )
        demandAnswer(response)
      }
    }),

    check('gives the messages of each answer unique ids', say, async (client, harness) => {
      if (harness.repeatsIds === true) return
      const answers = [
        await client.respond(request()),
        await client.respond(request()),
        foldUpdates(await collect(client.stream(request()))),
        foldUpdates(await collect(client.stream(request()))),
      ]
      const ids = answers.flatMap(({ messages }) => messages.map(({ id }) => id))
      demand(new Set(ids).size === ids.length, 'two answers have messages of one id')
    }),

    check('reports the requested model', say, async (client, harness) => {
      if (harness.lastModel === undefined) return
      const { signal, messages } = request()
      const asked = {
        messages,
        instructions: undefined,
        options: { model: 'model-of-call' },
        signal,
      }
      const plain = await client.respond(asked)
      demandSame(harness.lastModel(), 'model-of-call', 'the model that the provider was sent')
      demandSame(plain.model, 'model-of-call', '`model`')
      demandSame(foldUpdates(await collect(client.stream(asked))).model, 'model-of-call', '`model`')
    }),

    check('gives the same result through its pipeline', say, async (client) => {
      const plain = await client.getResponse('Hello')
      const streamed = await client.getResponse('Hello', { stream: true }).finalResponse()

      demandSame(plain.text, say.text, 'the text of `getResponse`')
      demandSame(essence(streamed), essence(plain), 'the streamed answer of `getResponse`')
    }),

    check('does not modify messages and options', call, async (client) => {
      const history = [
        message('user', 'Hello'),
        message('assistant', {
          type: 'function-call',
          callId: 'call_of_another',
          name: 'look_up',
          arguments: '{"q":"x"}',
        }),
        message('tool', {
          type: 'function-result',
          callId: 'call_of_another',
          contents: [{ type: 'text', text: 'found' }],
        }),
        message('user', 'And now?'),
      ]
      const { signal } = request()
      const frozen = frozenCopy({
        messages: history,
        instructions: 'Be brief.',
        options: { temperature: 0 },
      })

      await client.respond({ ...frozen, signal })
      await collect(client.stream({ ...frozen, signal }))
      if (client.prepareHistory !== undefined) {
        const prepared = client.prepareHistory(frozen.messages)
        demandSame(client.prepareHistory(prepared), prepared, 'a history that was prepared before')
      }
    }),

    check('answers concurrent calls', say, async (client) => {
      const texts = await Promise.all([
        client.respond(request()).then(({ text }) => text),
        ...[1, 2, 3].map(async () => foldUpdates(await collect(client.stream(request()))).text),
      ])

      demandSame(
        texts,
        texts.map(() => say.text),
        'the texts of calls at the same time',
      )
    }),
  ]
}

const call = {
  kind: 'calls',
  calls: [
    { name: 'look_up', arguments: '{"query":"the quick brown fox"}' },
    { name: 'look_up', arguments: '{"query":"the lazy dog"}' },
  ],
} as const

function essence({ text, finishReason, usage, messages }: ChatResponse): unknown {
  const kinds = messages.map(({ role, contents }) => [role, contents.map(({ type }) => type)])
  return { text, finishReason, usage, kinds }
}

function demandAnswer({ messages, usage, model }: ChatResponse): void {
  demand(messages.length > 0, 'there must be a message')
  demand(
    messages.every(({ role }) => role === 'assistant'),
    'the messages must be of the assistant',
  )
  demand(
    messages.every(({ id }) => id !== ''),
    'each message must have an id',
  )
  demand((usage.inputTokens ?? 0) > 0 && (usage.outputTokens ?? 0) > 0, 'usage must be told')
  demand(typeof model === 'string' && model !== '', 'the model must be told')
}
