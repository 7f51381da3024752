import { isProviderError } from '@lamella/core'
import type { Replay, ReplayStep } from '../views/replay-of.ts'

/** Imported by the module that is made, and by nothing here. */
const testing = '@lamella/testing'

/** A TypeScript module with the input of a run and a client that answers as the model did. */
export function replayModule({ input, steps }: Replay, file: string): string {
  const needsError = steps.some(({ error }) => isProviderError(error))
  return [
    `// The run of ${JSON.stringify(file).slice(1, -1)}, to run again without the model.`,
    ...(needsError ? ["import { ProviderError } from '@lamella/core'"] : []),
    `import type { ScriptedClient } from '${testing}'`,
    `import { scriptedClient } from '${testing}'`,
    '',
    `export const input = ${literal(input)} as const`,
    '',
    'export function replayClient(): ScriptedClient {',
    `  return scriptedClient([${steps.map((step) => `\n${stepOf(step)},`).join('')}\n  ])`,
    '}',
    '',
  ].join('\n')
}

function stepOf({ updates, error }: ReplayStep): string {
  const lines = updates.map((update) => `      ${literal(update)},\n`).join('')
  const failure = error === undefined ? '' : `      error: ${errorOf(error)},\n`
  return `    {\n      updates: [\n${lines}      ],\n${failure}    }`
}

function errorOf(error: Error): string {
  const message = literal(error.message)
  if (!isProviderError(error)) return `new Error(${message})`
  const { kind, provider, status, retry } = error
  const options = { kind, provider, status, retry: { retryable: retry.retryable } }
  return `new ProviderError(${message}, ${literal(options)})`
}

/** JSON that is also TypeScript. */
function literal(value: unknown): string {
  // Written as it is, that key would set a prototype.
  return JSON.stringify(value).replaceAll('"__proto__":', '["__proto__"]:')
}
