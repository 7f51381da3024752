import type { Middleware } from '@lamella/core'
import { agentLayer, chatLayer, functionLayer } from '@lamella/core/authoring'
import type { AuditHead } from './audit-record.ts'
import type { AuditLogOptions } from './audit-options.ts'
import { checkAuditOptions } from './audit-options.ts'
import { AuditTrail } from './audit-trail.ts'
import { modelPart } from './model-part.ts'
import { RunAudit } from './run-audit.ts'
import { runPart } from './run-part.ts'
import { toolPart } from './tool-part.ts'

/** The layers of an audit log, and the log itself. */
export interface AuditLog extends ReadonlyArray<Middleware> {
  /** Where the chain ends, once something was recorded. Kept elsewhere, it shows that lines were cut off. */
  readonly head: AuditHead | undefined
  /** Resolves when all is written, or `waitMs` are over. */
  flush(): Promise<void>
  /** Writes what waits and lets go of the sinks. */
  close(): Promise<void>
}

/**
 * Records runs, model calls, tool calls, approvals and decisions in a log in which every line holds the
 * hash of the one before. Agents that write to one log share one `auditLog()`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function auditLog(options: AuditLogOptions): AuditLog {
  checkAuditOptions(options)
  const trail = new AuditTrail(options)
  const audit = new RunAudit(trail, options)
  const layer = { name: options.name, when: options.when }
  const layers: Middleware[] = []
  if (options.mode !== 'off') {
    layers.push(agentLayer('audit', layer, runPart(audit)))
    if (audit.records('model')) layers.push(chatLayer('audit', layer, modelPart(audit)))
    if (audit.records('tool') || audit.records('approval')) {
      layers.push(functionLayer('audit', layer, toolPart(audit)))
    }
  }
  return Object.defineProperties(layers, {
    head: { get: () => trail.head },
    flush: { value: () => trail.flush() },
    close: { value: () => trail.close() },
  }) as unknown as AuditLog
}
