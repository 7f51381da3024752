import type { Explanation } from '@lamella/core'
import type { Line } from './line.ts'
import { hasShape } from './line-shapes.ts'
import type { ReadLines } from './read-lines.ts'
import { readLines } from './read-lines.ts'

/** Returns the lines of a recording, or those that stand for a run that `explain(agent)` describes. */
export function recordingLines(recording: string | Explanation): ReadLines {
  if (typeof recording !== 'string') return { lines: planLines(recording), unreadable: 0 }
  const { lines, unreadable } = readLines(recording)
  const sound = lines.filter(hasShape)
  return { lines: sound, unreadable: unreadable + lines.length - sound.length }
}

function planLines(explanation: Explanation): Line[] {
  const { name, provider, client, model, tools, messages, settings, warnings } = explanation
  const { maxIterations, maxFunctionCalls } = settings
  const named = (names: readonly string[]) => names.map((each) => ({ name: each }))
  const at = { t: 0, r: 1 }
  return [
    {
      k: 'run',
      ...at,
      v: 1,
      id: '',
      agent: name,
      at: '',
      stream: false,
      capture: 'facts',
      level: 'agent',
      middleware: {
        agent: named(explanation.agent),
        chat: named(explanation.chat),
        function: named(explanation.function),
      },
      tools,
      provider,
      client,
      model,
      plan: {
        ...messages,
        modelCalls: maxIterations,
        toolCalls: maxFunctionCalls === Infinity ? undefined : maxFunctionCalls,
        warnings,
      },
    },
    { k: 'call', ...at, c: 0, type: 'run' },
    { k: 'call', ...at, c: 1, type: 'model' },
    { k: 'call', ...at, c: 2, type: 'tool', name: tools.join(', ') || '(no tools)' },
  ]
}
