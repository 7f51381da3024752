import { expect, test } from 'vitest'
import { z } from 'zod'
import type { MiddlewareInput } from '../../packages/core/src/index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  memoryStore,
  tool,
} from '../../packages/core/src/index.ts'
import { pii } from '../../packages/guardrail-pii/src/index.ts'
import { toolPolicy } from '../../packages/guardrail-tools/src/index.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import { cache } from '../../packages/middleware-cache/src/index.ts'
import { circuitBreaker, fallback } from '../../packages/middleware-fallback/src/index.ts'
import { retry, timeout } from '../../packages/middleware-retry/src/index.ts'
import { OpenAIChatClient } from '../../packages/openai/src/index.ts'
import { tracing } from '../../packages/otel/src/index.ts'
import { chatService, toNode } from '../../packages/serve/src/index.ts'
import { sseHandler } from '../../packages/serve/src/sse.ts'
import { sessions } from '../../packages/store/src/index.ts'
import { scriptedClient } from '../../packages/testing/src/index.ts'

// What people write who come from other libraries, and what the message must name: the right line.

const schema = z.object({ city: z.string() })
const named = { name: 'weather', description: 'The weather of a city.' }
const service = chatService(agent(), { principal: () => 'ada' })

function agent(options: object = {}): Agent {
  return new Agent({ client: scriptedClient(() => 'Hi.'), ...options })
}

/** Takes a function as callers without types use it. */
function any(given: unknown): (...values: unknown[]) => unknown {
  return given as (...values: unknown[]) => unknown
}

const run =
  (options: object, input: unknown = 'Hi') =>
  () =>
    any((given: never, more: never) => agent().run(given, more))(input, options)

const made =
  (options: object, ...values: unknown[]) =>
  () => [agent(options), values]

const passing = (process: (context: object, next: (request: object) => unknown) => unknown) =>
  run({ middleware: [any(chatMiddleware)('passing', process)] })

test.each<[written: string, make: () => unknown, meant: string]>([
  [
    'new Agent({ model })',
    () => any((o: never) => new Agent(o))({ model: 'openai/a' }),
    '`{ client: new OpenAIChatClient({ model }) }`',
  ],
  [
    'new Agent({ client: name })',
    () => agent({ client: 'gpt-5' }),
    '`client` must be a chat client',
  ],
  ['new Agent({ system })', made({ system: 'Be kind.' }), 'did you mean `instructions`?'],
  [
    'new Agent({ systemPrompt })',
    made({ systemPrompt: 'Be kind.' }),
    'did you mean `instructions`?',
  ],
  ['new Agent({ temperature })', made({ temperature: 0 }), '`{ options: { temperature } }`'],
  [
    'new Agent({ maxIterations })',
    made({ maxIterations: 3 }),
    '`{ functionInvocation: { maxIterations } }`',
  ],
  ['new Agent({ maxSteps })', made({ maxSteps: 3 }), '`{ functionInvocation: { maxIterations } }`'],
  ['new Agent({ stopWhen })', made({ stopWhen: 3 }), '`{ functionInvocation: { maxIterations } }`'],
  ['new Agent({ inputGuardrails })', made({ inputGuardrails: [] }), 'did you mean `middleware`?'],
  ['new Agent({ outputType })', made({ outputType: schema }), '`{ options: { responseFormat } }`'],
  ['new Agent({ checkpointer })', made({ checkpointer: {} }), 'did you mean `store`?'],
  ['new Agent({ handoffs })', made({ handoffs: [] }), 'did you mean `tools`?'],
  ['new Agent({ hooks })', made({ hooks: {} }), 'did you mean `middleware`?'],
  ['new Agent({ llm })', made({ llm: {} }), 'did you mean `client`?'],
  ['new Agent({ memory })', made({ memory: {} }), 'belongs in `agent.run(input, { session })`'],
  ['new Agent({ modelSettings })', made({ modelSettings: {} }), 'did you mean `options`?'],
  ['new Agent({ retriever })', made({ retriever: {} }), 'the options are `client`, `name`, '],
  [
    'new Agent()',
    () => any(() => new Agent(undefined as never))(),
    '`client` must be a chat client',
  ],
  [
    'tools of another library',
    run({ tools: [{ description: 'd', inputSchema: schema }] }),
    'pass tool({ name',
  ],
  [
    'tools of a request',
    run({ tools: [{ type: 'function', function: { name: 'a' } }] }),
    'pass tool({ name',
  ],
  ['tools: [undefined]', run({ tools: [undefined] }), 'is undefined; pass tool({ name'],
  [
    'jsonSchema(schema)',
    () => any(jsonSchema)(schema),
    'must be a JSON Schema; pass a Standard Schema as `parameters`',
  ],
  ['tools by name', made({ tools: { weather: 1 } }), '`tools` must be a list of tools'],
  [
    'middleware: [retry]',
    made({ middleware: [retry] }),
    'call it if it makes a middleware, as `retry()`',
  ],
  [
    'chatMiddleware(process)',
    () => any(chatMiddleware)(() => {}),
    'chatMiddleware: `name` must be a string',
  ],
  [
    'functionMiddleware(process)',
    () => any(functionMiddleware)(() => {}),
    'functionMiddleware: `name`',
  ],
  [
    'agentMiddleware(name)',
    () => any(agentMiddleware)('a'),
    'agentMiddleware: `process` must be a function',
  ],
  ['tool({ schema })', () => any(tool)({ ...named, schema }), 'did you mean `parameters`?'],
  [
    'tool({ jsonSchema: zod })',
    () => any(tool)({ ...named, jsonSchema: schema }),
    'pass a Standard Schema as `parameters`',
  ],
  ['tool({ handler })', () => any(tool)({ ...named, handler: () => 1 }), 'did you mean `execute`?'],
  [
    'tool({ needsApproval })',
    () => any(tool)({ ...named, needsApproval: true }),
    'did you mean `approval`?',
  ],
  [
    'tool(execute, options)',
    () => any(tool)(() => 1, named),
    'tool: the options must be an object, got a function',
  ],
  ['run({ context })', run({ context: {} }), 'did you mean `data`?'],
  ['run({ abortSignal })', run({ abortSignal: AbortSignal.abort() }), 'did you mean `signal`?'],
  ['run({ maxTurns })', run({ maxTurns: 3 }), '`{ functionInvocation: { maxIterations } }`'],
  ['run({ userId })', run({ userId: 'ada' }), 'did you mean `principal`?'],
  ['run({ outputSchema })', run({ outputSchema: schema }), '`{ options: { responseFormat } }`'],
  [
    "role: 'human'",
    run({}, [{ role: 'human', contents: 'Hi' }]),
    '`role` must be one of system, user, assistant, tool, got "human"',
  ],
  [
    'callNext({ ...request, messages })',
    passing((context, next) => next({ ...context, messages: [] })),
    'passed a request to callNext(), which takes none; assign to the context',
  ],
  ['run({ threadId })', run({ threadId: 'a' }), 'did you mean `session`?'],
  [
    'run({ session: id })',
    run({ session: 'chat-1' }),
    'such as `sessions(store).at(id)`, got "chat-1"',
  ],
  ['run({ stream: name })', run({ stream: 'yes' }), '`stream` must be true or false, got "yes"'],
  [
    'run({ prompt })',
    run({}, { prompt: 'Hi' }),
    "a message is `{ role: 'user', contents: 'Hello' }`",
  ],
  [
    'options: { max_tokens }',
    run({ options: { max_tokens: 5 } }),
    'did you mean `maxOutputTokens`?',
  ],
  [
    'responseFormat: schema',
    run({ options: { responseFormat: schema } }),
    "`responseFormat` must be 'text', 'json' or { schema }",
  ],
  [
    'resume(response)',
    () => any((c: never) => agent().resume(c, {}))({ status: 'paused' }),
    'pass `response.checkpoint`',
  ],
  ['timeout(ms)', () => any(timeout)(5000), 'timeout: the options must be an object, got 5000'],
  ['timeout({ ms })', () => any(timeout)({ ms: 5000 }), 'did you mean `totalMs`?'],
  ["cache('5m')", () => any(cache)('5m'), 'cache: the options must be an object, got "5m"'],
  ['retry({ maxAttempts })', () => any(retry)({ maxAttempts: 3 }), 'did you mean `maxRetries`?'],
  ['retry({ backoff })', () => any(retry)({ backoff: 3 }), 'did you mean `initialDelayMs`?'],
  ['pii({ types })', () => any(pii)({ types: ['email'] }), 'did you mean `entities`?'],
  ['pii({ action })', () => any(pii)({ action: 'block' }), 'did you mean `strategy`?'],
  [
    'fallback([client])',
    () => any(fallback)([scriptedClient([])]),
    'fallback: the options must be an object, got a list',
  ],
  ['fallback({ models })', () => any(fallback)({ models: [] }), 'did you mean `clients`?'],
  [
    'circuitBreaker({ threshold })',
    () => any(circuitBreaker)({ threshold: 5 }),
    'the options are ',
  ],
  ['budget({ maxCost })', () => any(budget)({ maxCost: 1 }), 'did you mean `limits`?'],
  ['toolPolicy({ approve })', () => any(toolPolicy)({ approve: ['pay'] }), 'did you mean `ask`?'],
  [
    'guardrail({ stages })',
    () => any(guardrail)({ name: 'g', stages: ['input'] }),
    'did you mean `applyTo`?',
  ],
  [
    "guardrail({ applyTo: 'input' })",
    () => any(guardrail)({ name: 'g', applyTo: 'input', check: () => undefined }),
    '`applyTo` must be a list of stages, got "input"',
  ],
  ['tracing({ serviceName })', () => any(tracing)({ serviceName: 'a' }), 'the options are '],
  [
    'new OpenAIChatClient(model)',
    () => any((o: never) => new OpenAIChatClient(o))('gpt-5'),
    'the options must be an object, got "gpt-5"',
  ],
  [
    'sessions(store).at(undefined)',
    () => any((id: never) => sessions(memoryStore()).at(id))(undefined),
    '`id` must be a string that is not empty',
  ],
  ['sseHandler(agent)', () => any(sseHandler)(agent()), 'pass `chatService(agent, { principal })`'],
  [
    'chatService({ agent })',
    () => any(chatService)({ agent: agent() }),
    'the first argument must be an agent',
  ],
  ['toNode(service)', () => any(toNode)(service), 'pass a handler, such as `sseHandler('],
])('%s is told what to write', async (_, make, meant) => {
  const error = await Promise.resolve()
    .then(make)
    .then(String, (thrown: Error) => thrown.message)

  expect(error).toContain(meant)
})

test('a tool takes the schema by the name that MCP and the AI SDK have for it', () => {
  const weather = tool({ ...named, inputSchema: schema, execute: ({ city }) => city })

  expect(weather.jsonSchema).toMatchObject({ properties: { city: { type: 'string' } } })
})

test('a schema that zod has described for JSON is one', () => {
  const described = z.toJSONSchema(schema)

  expect(tool({ ...named, parameters: schema, jsonSchema: described }).jsonSchema).toBe(described)
  expect(tool({ ...named, parameters: jsonSchema(described) }).jsonSchema).toHaveProperty(
    'properties',
  )
})

test('a factory that was not called is a mistake that the types know', () => {
  // @ts-expect-error retry must be called
  const middleware: MiddlewareInput = [retry]

  expect(() => agent({ middleware })).toThrow('call it')
})
