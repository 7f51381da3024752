import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type {
  AgentContext,
  AgentResponse,
  AgentResponseUpdate,
  ChatContext,
  Content,
  Middleware,
  UpdateTransformer,
} from '../index.ts'
import type { AgentResponseInit } from '../contract/outcome.ts'
import type { CallNext } from '../contract/run.ts'
import {
  Agent,
  MiddlewareTermination,
  agentMiddleware,
  chatMiddleware,
  createSession,
  foldUpdates,
  functionMiddleware,
  isTermination,
  jsonSchema,
  text,
  tool,
} from '../index.ts'
import { runs } from '../../../../tests/support/runs.ts'

type Context = AgentContext | ChatContext
type Transformer = UpdateTransformer<AgentResponseUpdate>
type Process = (
  context: Context,
  callNext: CallNext<AgentResponse>,
) => Promise<AgentResponse | AgentResponseInit | string | void>

function editText(edit: (value: string) => string): Transformer {
  return { transform: (update, controller) => controller.enqueue(withText(update, edit)) }
}

function withText(
  update: AgentResponseUpdate,
  edit: (value: string) => string,
): AgentResponseUpdate {
  if (!update.contents.some(({ type }) => type === 'text')) return update
  const contents = update.contents.map((content) =>
    content.type === 'text' ? { ...content, text: edit(content.text) } : content,
  )
  return { ...update, contents }
}

/** Redacts "secret", however it was cut: what could still become one waits. */
function redactSecrets(): Transformer {
  let held = ''
  let last: AgentResponseUpdate | undefined
  const release = (controller: { enqueue(update: AgentResponseUpdate): void }): void => {
    if (held !== '') controller.enqueue({ ...last, contents: [text(held)] })
    held = ''
  }
  return {
    start() {
      held = ''
    },
    transform(update, controller) {
      if (update.restart) held = ''
      const only = update.contents.length === 1 ? update.contents[0]! : undefined
      if (only?.type !== 'text' || update.messageId !== last?.messageId) release(controller)
      if (only?.type !== 'text') {
        const edited = withText(update, (value) => value.replaceAll('secret', '***'))
        controller.enqueue(edited)
        return
      }
      last = update
      const seen = (held + only.text).replaceAll('secret', '***')
      let keep = Math.min(seen.length, 5)
      while (keep > 0 && !'secret'.startsWith(seen.slice(seen.length - keep))) keep--
      held = seen.slice(seen.length - keep)
      const passed = seen.slice(0, seen.length - keep)
      if (passed !== '') controller.enqueue({ ...update, contents: [text(passed)] })
    },
    flush: release,
  }
}

const transforms: Readonly<Record<string, () => Transformer>> = {
  upperCase: () => editText((value) => value.toUpperCase()),
  bracketLater: () => ({
    async transform(update, controller) {
      const edited = await Promise.resolve(
        withText(update, (value) => value.replaceAll('e', '(e)')),
      )
      controller.enqueue(edited)
    },
  }),
  dropReasoning: () => ({
    transform(update, controller) {
      const contents = update.contents.filter(({ type }) => type !== 'reasoning')
      if (contents.length === update.contents.length) controller.enqueue(update)
      else if (contents.length > 0) controller.enqueue({ ...update, contents })
    },
  }),
  oneByOne: () => ({
    transform(update, controller) {
      const only = update.contents[0]
      if (update.contents.length !== 1 || only?.type !== 'text') return controller.enqueue(update)
      for (const character of only.text)
        controller.enqueue({ ...update, contents: [text(character)] })
    },
  }),
  redact: redactSecrets,
  footer: () => ({
    flush: (controller) => controller.enqueue({ role: 'assistant', contents: [text(' [end]')] }),
  }),
}

const middlewares: Readonly<Record<string, Process>> = {
  pass: (_, callNext) => callNext(),
  async metadata(context, callNext) {
    context.metadata['seen'] = true
    const result = await callNext()
    context.result = { ...result, metadata: { ...result.metadata, seen: context.metadata['seen'] } }
  },
  async note(context, callNext) {
    const note = { id: 'note', role: 'user' as const, contents: [text('note')] }
    context.messages = [...context.messages, note]
    await callNext()
  },
  async override(context, callNext) {
    const { text: had } = await callNext()
    context.result = { messages: [{ id: 'new', role: 'assistant', contents: `new ${had}` }] }
  },
  async cutMessages(context, callNext) {
    const result = await callNext()
    context.result = { ...result, messages: result.messages.slice(0, 1) }
  },
  async retry(_, callNext) {
    for (let attempt = 0; ; attempt++) {
      try {
        return await callNext()
      } catch (error) {
        if (attempt === 2 || isTermination(error)) throw error
      }
    }
  },
  async fallback(context, callNext) {
    try {
      await callNext()
    } catch (error) {
      if (isTermination(error)) throw error
      context.result = 'fallback secret'
    }
  },
  async firstOfTwo(context, callNext) {
    const first = await callNext()
    await callNext()
    context.result = first
  },
  async returnFirst(_, callNext) {
    const first = await callNext()
    await callNext()
    return first
  },
  async returnOther(_, callNext) {
    const { text: had } = await callNext()
    return { messages: [{ id: 'new', role: 'assistant', contents: `new ${had}` }] }
  },
  async returnShorter(_, callNext) {
    const result = await callNext()
    return { ...result, messages: result.messages.slice(0, 1) }
  },
}

const endings: Readonly<Record<string, Process>> = {
  async shortCircuit(context) {
    context.result = 'short secret'
  },
  async terminateBefore() {
    throw new MiddlewareTermination('before')
  },
  async terminateWith() {
    throw new MiddlewareTermination('with', { result: 'ended secret' })
  },
  async terminateAfter(_, callNext) {
    await callNext()
    throw new MiddlewareTermination('after')
  },
  async failAfter(_, callNext) {
    await callNext()
    throw new Error('failed after')
  },
}

interface Spec {
  readonly kind: string
  readonly level: 'agent' | 'chat'
  readonly scope: 'client' | 'agent' | 'run'
  /** A middleware that acts on every second call only lets rounds and attempts differ. */
  readonly sparing: boolean
}

function make({ kind, level, sparing }: Spec): Middleware {
  const transformer = transforms[kind]
  const middleware = middlewares[kind] ?? endings[kind]
  let calls = 0
  const process: Process = async (context, callNext) => {
    if (sparing && calls++ % 2 === 1) return callNext()
    if (middleware !== undefined) return middleware(context, callNext)
    context.transformUpdates(transformer!())
    return callNext()
  }
  return level === 'chat' ? chatMiddleware(kind, process) : agentMiddleware(kind, process)
}

const spec = fc
  .record<Spec>({
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...Object.keys(transforms)) },
      { weight: 4, arbitrary: fc.constantFrom(...Object.keys(middlewares)) },
      { weight: 1, arbitrary: fc.constantFrom(...Object.keys(endings)) },
    ),
    level: fc.constantFrom('agent', 'chat'),
    scope: fc.constantFrom('client', 'agent', 'run'),
    sparing: fc.boolean(),
  })
  .map((made) =>
    made.level === 'agent' && made.scope === 'client' ? { ...made, scope: 'agent' as const } : made,
  )

const words = fc
  .array(fc.constantFrom('secret', 'sec', 'ret', 'some', ' ', 'é', '😀', '.'), { maxLength: 6 })
  .map((parts) => parts.join(''))
const part: fc.Arbitrary<string | Content> = fc.oneof(
  { weight: 4, arbitrary: words },
  { weight: 1, arbitrary: words.map((value): Content => ({ type: 'reasoning', text: value })) },
)
const answer = fc.array(part, { maxLength: 2 })
const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  { weight: 3, arbitrary: answer.map((parts) => [...parts, 'so']) },
  { weight: 3, arbitrary: answer.map((parts) => [...parts, callFunction('look')]) },
  {
    weight: 1,
    arbitrary: fc
      .array(words, { maxLength: 3 })
      .map((updates) => ({ updates, error: new Error('cut') })),
  },
  { weight: 1, arbitrary: fc.constant(new Error('refused')) },
)

interface Scenario {
  readonly specs: readonly Spec[]
  readonly steps: readonly ScriptedStep[]
  readonly chunk: number
  readonly tool: 'result' | 'failure' | 'termination' | 'secret'
}

function agentOf({ specs, steps, chunk, tool: outcome }: Scenario) {
  const inScope = (scope: string) => specs.filter((entry) => entry.scope === scope).map(make)
  let calls = 0
  const client = scriptedClient(
    (request) => {
      calls++
      const made = steps[request.index] ?? 'The end.'
      return typeof made === 'function' ? made(request) : made
    },
    { chunk: { seed: chunk, maxChars: 4 }, middleware: inScope('client') as never },
  )
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object' }),
    execute() {
      if (outcome === 'failure') throw new Error('no luck')
      return outcome === 'secret' ? 'a secret' : 'found'
    },
  })
  const ending = functionMiddleware('ending', async (_, callNext) => {
    await callNext()
    if (outcome === 'termination') throw new MiddlewareTermination('enough')
  })
  const agent = new Agent({
    client,
    tools: [look],
    middleware: [inScope('agent'), ending],
    functionInvocation: { maxIterations: 4 },
  })
  return { agent, client, run: inScope('run'), calls: () => calls }
}

/** All but ids that are made at random, which are numbered in the order in which they come. */
function comparable(value: unknown): unknown {
  const ids = new Map<string, string>()
  const rename = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `#${ids.size}`)
    return ids.get(id)!
  }
  return JSON.parse(
    JSON.stringify(value, (key, entry: unknown) =>
      key === 'runId'
        ? undefined
        : typeof entry === 'string'
          ? entry.replace(/^[a-z]+_[0-9a-f]{12}-\w+$/, rename)
          : entry,
    ) ?? 'null',
  )
}

async function observe(scenario: Scenario, stream: boolean) {
  const { agent, client, run } = agentOf(scenario)
  const session = createSession()
  const updates: AgentResponseUpdate[] = []
  let response: AgentResponse | undefined
  let error: unknown
  try {
    if (stream) {
      const running = agent.run('Hello', { middleware: run, session, stream })
      for await (const update of running) updates.push(update)
      response = await running.finalResponse()
    } else {
      response = await agent.run('Hello', { middleware: run, session })
    }
  } catch (caught) {
    error = String(caught)
  }
  const requests = client.requests.map(({ messages, instructions }) => ({ messages, instructions }))
  return {
    updates,
    response,
    openStreams: client.openStreams,
    seen: comparable({ response, error, requests, session: session.messages }),
  }
}

const scenario = fc.record<Scenario>({
  specs: fc.array(spec, { maxLength: 6 }),
  steps: fc.array(step, { minLength: 1, maxLength: 6 }),
  chunk: fc.nat({ max: 1000 }),
  tool: fc.constantFrom('result', 'failure', 'termination', 'secret'),
})

it('a streamed run comes to the same as a plain one, whatever its middlewares do', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const plain = await observe(given, false)
      const streamed = await observe(given, true)

      expect(streamed.seen).toEqual(plain.seen)
      expect(streamed.openStreams).toBe(0)
    }),
    { numRuns: runs(300) },
  )
})

it('the updates of a streamed run add up to its final response, restarts and all', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { updates, response } = await observe(given, true)
      if (response === undefined) return

      const folded = foldUpdates(updates)

      expect(comparable(folded.messages)).toEqual(comparable(response.messages))
      expect(folded.text).toBe(response.text)
    }),
    { numRuns: runs(300) },
  )
})

it('the text of a streamed run, begun anew on each restart, is that of its final response', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { agent, run } = agentOf(given)
      const stream = agent.run('Hello', { middleware: run, stream: true })
      let shown = ''
      try {
        for await (const piece of stream.text({ onRestart: () => (shown = '') })) shown += piece
      } catch {
        return
      }

      expect(shown).toBe((await stream.finalResponse()).text)
    }),
    { numRuns: runs(300) },
  )
})
