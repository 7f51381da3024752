/**
 * Folders of each source root, from the bottom up. A file imports from its own folder and from those
 * before it; files beside the folders are entries, which may import from all of them.
 */
export const rooms: Readonly<Record<string, readonly string[]>> = {
  'packages/core/src': [
    'base',
    'messages',
    'stream',
    'store',
    'contract',
    'run',
    'pausing',
    'pipeline',
    'loop',
    'agent',
    'guardrail',
    'lifecycle',
    'authoring',
    'transport',
  ],
  'packages/openai/src': [
    'dialects',
    'errors',
    'requests',
    'history',
    'answers',
    'connection',
    'completions',
    'responses',
  ],
  'packages/ai-sdk/src': ['model', 'client', 'middleware', 'tools'],
  'packages/anthropic/src': ['errors', 'history', 'requests', 'answers', 'connection'],
  'packages/azure-openai/src': ['answers', 'connection'],
  'packages/guardrail-injection/src': ['signals', 'assess', 'incoming', 'outgoing'],
  'packages/guardrail-tools/src': ['rules', 'sql', 'policy', 'approvals'],
  'packages/middleware-audit/src': ['record', 'verify', 'sinks', 'run'],
  'packages/picture/src': ['lines', 'recorder', 'reading', 'views', 'command'],
  'packages/testing/src': ['base', 'scripted', 'contracts', 'model-server'],
  scripts: [
    'test-support',
    'evaluation',
    'provider-harness',
    'conventions',
    'combinations',
    'registry',
    'runtimes',
  ],
}
