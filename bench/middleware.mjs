// The built-in middlewares, each made so that neutral calls pass: name, package, and how it is made of what the
// package exports.
const plenty = 1e12
let count = 0

export const middlewares = {
  'cache(), a miss': ['middleware-cache', ({ cache }) => cache({ key: () => count++ })],
  'toolCache(), a miss': [
    'middleware-cache',
    ({ toolCache }) => toolCache({ tools: { next_number: { key: () => count++ } } }),
  ],
  'retry()': ['middleware-retry', ({ retry }) => retry()],
  'timeout()': ['middleware-retry', ({ timeout }) => timeout()],
  'fallback()': [
    'middleware-fallback',
    ({ fallback }, { makeClient }) => fallback({ clients: [makeClient()] }),
  ],
  'circuitBreaker()': ['middleware-fallback', ({ circuitBreaker }) => circuitBreaker()],
  'rateLimit()': [
    'middleware-rate-limit',
    ({ rateLimit }) =>
      rateLimit({
        limits: [
          { unit: 'requests', limit: plenty, windowMs: 60_000 },
          { unit: 'totalTokens', limit: plenty, windowMs: 60_000 },
        ],
      }),
  ],
  'budget()': [
    'middleware-budget',
    ({ budget }) => budget({ limits: { modelCalls: plenty, totalTokens: plenty } }),
  ],
  'schemaValidator()': [
    'middleware-schema',
    ({ schemaValidator }, { schema }) => schemaValidator({ schema }),
  ],
  'historyTruncator()': [
    'middleware-truncate',
    ({ historyTruncator }) => historyTruncator({ maxMessages: 100 }),
  ],
  'contentTruncator()': ['middleware-truncate', ({ contentTruncator }) => contentTruncator()],
  'summarizer()': ['middleware-truncate', ({ summarizer }) => summarizer()],
  'patchToolCalls()': ['middleware-truncate', ({ patchToolCalls }) => patchToolCalls()],
  'fileValidator()': [
    'middleware-files',
    ({ fileValidator }) => fileValidator({ paths: { roots: ['/tmp'] }, contents: true }),
  ],
  'auditLog()': ['middleware-audit', ({ auditLog }) => auditLog({ sinks: () => {} })],
  'tracing(), without OpenTelemetry': ['otel', ({ tracing }) => tracing()],
  'promptInjection()': [
    'guardrail-injection',
    ({ promptInjection }) => promptInjection({ spotlight: 'none' }),
  ],
  'contentFilter()': [
    'guardrail-content',
    ({ contentFilter }) => contentFilter({ words: { insult: ['bastard*'] } }),
  ],
  'maxTokens()': [
    'guardrail-tokens',
    ({ maxTokens }) => maxTokens({ maxInputTokens: 1e6, maxOutputTokens: 1e6 }),
  ],
  'pii()': ['guardrail-pii', ({ pii }) => pii()],
  'llmJudge(), whose model answers at once': [
    'guardrail-judge',
    ({ llmJudge }, { judge }) =>
      llmJudge({
        client: judge,
        criteria: [{ id: 'promises', question: 'Does it promise?', failIf: 'yes' }],
        cacheVerdicts: false,
      }),
  ],
  'toolPolicy()': ['guardrail-tools', ({ toolPolicy }) => toolPolicy({ allow: ['next_number'] })],
}
