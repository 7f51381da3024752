import type { ChatMiddleware, RunContext } from '@lamella/core'
import { chatMiddleware } from '@lamella/core'
import { modelTraits } from './models/model-traits.ts'
import { sentTools } from './requests/tool-params.ts'

/**
 * Creates the middleware that reports tools that Google cannot be told, as an event `tool-omitted` of the
 * run, once for each tool of a run. A client by itself has no run to report to.
 */
export function reportOmittedTools(): ChatMiddleware {
  const told = new WeakMap<RunContext, Set<string>>()
  return chatMiddleware('google-tools', async ({ client, options, run }, callNext) => {
    const traits = modelTraits(options.model ?? client.model)
    for (const { name, reason } of sentTools(options.tools ?? [], traits).omitted) {
      const known = told.get(run) ?? new Set<string>()
      told.set(run, known)
      if (known.has(name)) continue
      known.add(name)
      run.emit({ type: 'tool-omitted', data: { tool: name, provider: client.provider, reason } })
    }
    await callNext()
  })
}
