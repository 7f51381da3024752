import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { AnthropicChatClient, sdkSender } from '../../packages/anthropic/src/index.ts'
import { AzureOpenAIChatClient } from '../../packages/azure-openai/src/index.ts'
import type { GuardrailOptions } from '../../packages/guardrail/src/index.ts'
import { durable, storedUpdates } from '../../packages/durable/src/index.ts'
import { defineEvent, memoryStore, toolSearch } from '../../packages/core/src/index.ts'
import { guardrail } from '../../packages/guardrail/src/index.ts'
import { lifecycle } from '../../packages/lifecycle/src/index.ts'
import { createInbox } from '../../packages/steering/src/index.ts'
import { requests, sessions, whenStored } from '../../packages/store/src/index.ts'
import { namedClients } from '../../packages/clients/src/index.ts'
import { GoogleChatClient } from '../../packages/google/src/index.ts'
import {
  azureContentSafety,
  bedrockGuardrail,
  contentFilter,
  llamaModeration,
  modelArmor,
  nemoModeration,
  openaiModeration,
} from '../../packages/guardrail-content/src/index.ts'
import { injectionAssessor, promptInjection } from '../../packages/guardrail-injection/src/index.ts'
import {
  calibrateJudge,
  judgeScore,
  llmJudge,
  onTopic,
} from '../../packages/guardrail-judge/src/index.ts'
import {
  findPii,
  patternRecognizer,
  pii,
  presidio,
} from '../../packages/guardrail-pii/src/index.ts'
import { maxTokens } from '../../packages/guardrail-tokens/src/index.ts'
import { path, shell, sql, toolPolicy, url } from '../../packages/guardrail-tools/src/index.ts'
import { auditLog, jsonLines, verify } from '../../packages/middleware-audit/src/index.ts'
import { budget } from '../../packages/middleware-budget/src/index.ts'
import {
  cache,
  calibrateThreshold,
  memoryVectorIndex,
  promptCacheDoctor,
  toolCache,
} from '../../packages/middleware-cache/src/index.ts'
import {
  circuitBreaker,
  classify,
  fallback,
  route,
} from '../../packages/middleware-fallback/src/index.ts'
import { fileValidator } from '../../packages/middleware-files/src/index.ts'
import { rateLimit } from '../../packages/middleware-rate-limit/src/index.ts'
import { postgresStore } from '../../packages/store-postgres/src/index.ts'
import { redisStore } from '../../packages/store-redis/src/index.ts'
import { sqliteStore } from '../../packages/store-sqlite/src/index.ts'
import { retry, retryBudget, timeout } from '../../packages/middleware-retry/src/index.ts'
import { schemaValidator } from '../../packages/middleware-schema/src/index.ts'
import { agentServer } from '../../packages/mcp/src/server.ts'
import { stdio } from '../../packages/mcp/src/stdio.ts'
import { mcpTools } from '../../packages/mcp/src/index.ts'
import {
  contentTruncator,
  deferTools,
  historyTruncator,
  patchToolCalls,
  readMoreTool,
  summarizer,
  toolSelector,
} from '../../packages/middleware-truncate/src/index.ts'
import { OpenAIChatClient, OpenAIChatCompletionsClient } from '../../packages/openai/src/index.ts'
import { traced, tracing } from '../../packages/otel/src/index.ts'
import { AgentQueue, AgentWorker } from '../../packages/worker-bullmq/src/index.ts'
import { foundations } from './conventions.ts'
import { sourcesOf } from './find-sources.ts'
import { declarations, fieldsOf } from './option-fields.ts'

// What is made of options, the type of these, and the types of objects of options in them, or that the
// type itself describes them.

type Row = [make: (options: never) => unknown, type: string, nested?: Record<string, string>]

const inline = ''
const bare: GuardrailOptions = { name: 'a', check: () => ({ action: 'allow' }), applyTo: [] }

/** Adds to options what each call needs. */
function over(needed: object, make: (options: never) => unknown): Row[0] {
  return (options: unknown) =>
    make((isRecord(options) ? { ...needed, ...options } : options) as never)
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const step = <Value>(_: string, work: () => Promise<Value>): Promise<Value> => work()

const rows: Readonly<Record<string, Row>> = {
  agentServer: [(options) => agentServer({}, options), 'AgentServerOptions'],
  AgentQueue: [(options) => new AgentQueue(options), 'AgentQueueOptions'],
  AgentWorker: [(options) => new AgentWorker(options), 'AgentWorkerOptions'],
  AnthropicChatClient: [
    (options) => new AnthropicChatClient(options),
    'AnthropicChatClientOptions',
  ],
  auditLog: [auditLog, 'AuditLogOptions', { capture: 'AuditCapture' }],
  azureContentSafety: [azureContentSafety, 'AzureContentSafetyOptions'],
  AzureOpenAIChatClient: [
    (options) => new AzureOpenAIChatClient(options),
    'AzureOpenAIClientOptions',
  ],
  bedrockGuardrail: [bedrockGuardrail, 'BedrockGuardrailOptions'],
  budget: [budget, 'BudgetOptions', { limits: 'BudgetLimits', degrade: 'BudgetDegradation' }],
  cache: [
    cache,
    'CacheOptions',
    { semantic: 'SemanticOptions', singleFlight: 'SingleFlightOptions' },
  ],
  calibrateJudge: [
    (options) => calibrateJudge(options, []),
    "JudgeOptions & Pick<GetResponseOptions, 'signal'>",
  ],
  calibrateThreshold: [calibrateThreshold, 'CalibrationOptions'],
  circuitBreaker: [circuitBreaker, 'CircuitBreakerOptions'],
  classify: [classify, 'ClassifyOptions'],
  contentFilter: [contentFilter, 'ContentFilterOptions'],
  contentTruncator: [contentTruncator, 'ContentTruncatorOptions', { spill: 'SpillOptions' }],
  deferTools: [deferTools, 'DeferToolsOptions'],
  defineEvent: [defineEvent, 'EventOptions'],
  durable: [over({ step }, durable), 'DurableOptions'],
  fallback: [fallback, 'FallbackOptions'],
  createInbox: [createInbox, 'InboxOptions'],
  fileValidator: [
    fileValidator,
    'FileValidatorOptions',
    { paths: 'PathOptions', contents: 'ContentOptions' },
  ],
  findPii: [(options) => findPii('', options), 'FindPiiOptions'],
  GoogleChatClient: [
    (options) => new GoogleChatClient(options),
    'GoogleChatClientOptions',
    { vertex: 'VertexOptions' },
  ],
  guardrail: [over(bare, guardrail), 'GuardrailOptions', { stream: 'GuardrailStreamOptions' }],
  historyTruncator: [
    historyTruncator,
    'HistoryTruncatorOptions',
    { keep: inline, clearResults: inline },
  ],
  injectionAssessor: [injectionAssessor, 'AssessOptions'],
  jsonLines: [(options) => jsonLines('log', options), 'JsonLinesOptions'],
  judgeScore: [judgeScore, 'JudgeScoreOptions', { budget: 'JudgeBudget' }],
  llamaModeration: [llamaModeration, 'ChatModeratorOptions'],
  lifecycle: [lifecycle, 'LifecycleHooks'],
  llmJudge: [
    llmJudge,
    'LlmJudgeOptions',
    {
      budget: 'JudgeBudget',
      cacheVerdicts: 'VerdictCacheOptions',
      stream: 'GuardrailStreamOptions',
    },
  ],
  maxTokens: [maxTokens, 'MaxTokensOptions', { onExceed: 'OnExceed' }],
  mcpTools: [
    (options) => mcpTools({ url: 'https://none.example' }, options),
    'McpToolsOptions',
    { sampling: 'McpSamplingOptions' },
  ],
  memoryStore: [memoryStore, 'MemoryStoreOptions'],
  modelArmor: [modelArmor, 'ModelArmorOptions'],
  namedClients: [namedClients, 'NamedClientsOptions'],
  nemoModeration: [nemoModeration, 'ChatModeratorOptions'],
  onTopic: [over({ topics: ['a'] }, onTopic), 'OnTopicOptions'],
  presidio: [presidio, 'PresidioOptions'],
  memoryVectorIndex: [memoryVectorIndex, 'MemoryVectorIndexOptions'],
  sdkSender: [
    (options) => sdkSender({ baseURL: 'https://a.example' } as never, options),
    'SdkSenderOptions',
  ],
  OpenAIChatClient: [(options) => new OpenAIChatClient(options), 'OpenAIClientOptions'],
  OpenAIChatCompletionsClient: [
    (options) => new OpenAIChatCompletionsClient(options),
    'OpenAIChatCompletionsClientOptions',
  ],
  openaiModeration: [openaiModeration, 'OpenAIModerationOptions'],
  patchToolCalls: [patchToolCalls, 'PatchToolCallsOptions'],
  path: [path, 'PathRuleOptions'],
  patternRecognizer: [patternRecognizer, 'PatternOptions'],
  pii: [pii, 'PiiOptions', { hash: 'HashOptions', mask: 'MaskOptions', vault: 'VaultOptions' }],
  promptInjection: [
    promptInjection,
    'PromptInjectionOptions',
    { exfiltration: 'ExfiltrationOptions', taint: 'TaintOptions' },
  ],
  rateLimit: [rateLimit, 'RateLimitOptions'],
  requests: [(options) => requests(memoryStore(), options), 'RequestsOptions'],
  route: [route, 'RouteOptions'],
  whenStored: [(options) => whenStored({}, options), 'WhenStoredOptions'],
  promptCacheDoctor: [(options) => promptCacheDoctor([], options), 'PromptCacheDoctorOptions'],
  postgresStore: [
    (options) => postgresStore({ connect() {} } as never, options),
    'PostgresStoreOptions',
  ],
  readMoreTool: [readMoreTool, 'SpillOptions'],
  redisStore: [(options) => redisStore({ evalsha() {} } as never, options), 'RedisStoreOptions'],
  retry: [retry, 'RetryOptions', { tools: 'ToolRetryOptions' }],
  retryBudget: [retryBudget, 'RetryBudgetOptions'],
  schemaValidator: [schemaValidator, 'SchemaValidatorOptions'],
  sessions: [(options) => sessions(memoryStore(), options), 'SessionsOptions'],
  shell: [shell, 'ShellRuleOptions'],
  sql: [sql, 'SqlRuleOptions'],
  stdio: [over({ command: 'none' }, stdio), 'StdioOptions'],
  sqliteStore: [(options) => sqliteStore(':memory:', options), 'SqliteStoreOptions'],
  storedUpdates: [(options) => storedUpdates(memoryStore(), options), 'StoredUpdatesOptions'],
  summarizer: [summarizer, 'SummarizerOptions'],
  timeout: [timeout, 'TimeoutOptions'],
  toolCache: [toolCache, 'ToolCacheOptions', { singleFlight: 'SingleFlightOptions' }],
  toolPolicy: [toolPolicy, 'ToolPolicyOptions', { approval: 'ApprovalOptions' }],
  toolSelector: [toolSelector, 'ToolSelectorOptions'],
  toolSearch: [toolSearch, 'ToolSearchOptions'],
  traced: [(options) => traced([], options), 'TracedOptions'],
  tracing: [tracing, 'TracingOptions'],
  url: [url, 'UrlRuleOptions'],
  verify: [(options) => verify([], options), 'VerifyOptions'],
}

const own =
  /^(middleware-|guardrail(-|$)|store(-|$)|clients$|lifecycle$|steering$|text$|transport$|otel$|mcp$|worker-bullmq$|durable$|openai$|anthropic$|azure-openai$|google$)/
const packages = globSync('packages/*').map((folder) => folder.slice('packages/'.length))
const typesOf = new Map(packages.map((name) => [name, declarations(sourcesOf(name))]))

const fieldsByName = new Map(
  Object.entries(rows).map(([name, [, type, nested = {}]]) => {
    const fields = fieldsIn(type)
    const inner = Object.entries(nested).flatMap(([outer, of]) =>
      of === inline
        ? fields.filter((field) => field.startsWith(`${outer}.`))
        : fieldsIn(of).map((field) => `${outer}.${field}`),
    )
    return [name, [...fields.filter((field) => !field.includes('.')), ...inner]]
  }),
)
const allNames = new Set([...fieldsByName.values()].flat().filter((name) => !name.includes('.')))

describe.each(Object.entries(rows))('%s', (name, [make]) => {
  const fields = fieldsByName.get(name)!

  test('knows its options, and which of them a name close to one is meant for', async () => {
    const known = await Promise.all(fields.map((field) => problemOf(make, field)))
    const misspelt = await Promise.all(fields.map((field) => problemOf(make, `${field}z`)))

    expect(known.filter((problem) => problem.includes('unknown option'))).toEqual([])
    expect(misspelt).toEqual(
      fields.map(
        (field) => `TypeError: ${name}: unknown option \`${field}z\`; did you mean \`${field}\`?`,
      ),
    )
  })

  test('takes no options that are no object', async () => {
    const values = [5, 'x', true, ['a'], null]
    const problems = await Promise.all(values.map((value) => problemWith(make, value)))

    expect(problems).toEqual(
      ['5', '"x"', 'true', 'a list', 'null'].map(
        (given) => `TypeError: ${name}: the options must be an object, got ${given}`,
      ),
    )
  })

  test('takes neither a number nor a string that it does not know for an object of options', async () => {
    const outer = new Set(fields.flatMap((field) => /^(.*)\./.exec(field)?.[1] ?? []))
    const problems = await Promise.all(
      [...outer].flatMap((option) =>
        [5, 'x', null].map(
          async (value) => [option, await problemOf(make, option, value)] as const,
        ),
      ),
    )

    expect(problems.filter(([option, problem]) => !problem.includes(`\`${option}\``))).toEqual([])
  })

  test('takes any time limit above 0, however long', async () => {
    // Other processes hold a lock of SQLite for no time, if so wished.
    const limits = fields.filter((field) => /(?<!busyT)imeoutMs$/.test(field))
    const problems = (values: readonly unknown[]) =>
      Promise.all(limits.flatMap((field) => values.map((value) => problemOf(make, field, value))))
    const refused = [Number.NaN, -1, 0, '5', null]

    expect((await problems(refused)).filter((problem) => !problem.includes('imeoutMs'))).toEqual([])
    const accepted = await problems([0.5, 2 ** 40, Infinity])
    expect(accepted.filter((problem) => problem.includes('imeoutMs'))).toEqual([])
  })

  test('knows no option of others', async () => {
    const others = [...allNames].filter((other) => !fields.includes(other))
    const problems = await Promise.all(others.map((other) => problemOf(make, other)))

    expect(problems.filter((problem) => !problem.includes(': unknown option `'))).toEqual([])
  })
})

/** They take options that another function has checked, or that it checks by itself. */
const exempt = [
  'flexibleLimitStore',
  'guardrailOptions',
  'holdBackGate',
  'HttpClient',
  'normalizeText',
  'ownProviderOptions',
  'runDurably',
]

test('all that packages make of options is above', () => {
  const found = packages.filter((name) => own.test(name)).flatMap((name) => makersOf(name))

  expect(found.filter((name) => !exempt.includes(name) && rows[name] === undefined)).toEqual([])
  expect(found.length).toBeGreaterThan(40)
})

/** Functions and classes that take options, as the report of a package's types has them. */
function makersOf(name: string): string[] {
  let owner = ''
  return read(`packages/${name}/api/index.md`)
    .split('\n')
    .flatMap((line) => {
      owner = /^export (?:abstract )?class (\w+)/.exec(line)?.[1] ?? owner
      if (/^ +constructor\(.*Options/.test(line)) return [owner]
      return /^export function (\w+)\b.*Options/.exec(line)?.[1] ?? []
    })
}

/** The fields of a type, as its package and those that it is built on declare it. */
function fieldsIn(type: string): string[] {
  const [first = ''] = /\w+/.exec(type) ?? []
  const owner = packages.find((name) => typesOf.get(name)!.has(first))!
  const known = [owner, 'openai', ...foundations, 'core'].flatMap((name) => [...typesOf.get(name)!])
  return [...fieldsOf(type, new Map(known.toReversed())).keys()]
}

function problemOf(make: Row[0], option: string, value: unknown = Symbol('given')) {
  const [outer = '', inner] = option.split('.')
  return problemWith(make, { [outer]: inner === undefined ? value : { [inner]: value } })
}

async function problemWith(make: Row[0], options: unknown): Promise<string> {
  try {
    await make(options as never)
    return ''
  } catch (error) {
    return String(error)
  }
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
