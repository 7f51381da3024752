import { LamellaError } from '../base/lamella-error.ts'
import { processWide } from '../base/process-wide.ts'
import { takeTurn, unlessAborted } from '../base/waits.ts'
import { backgroundTimer } from '../base/timers.ts'
import type { Session, SessionReference, SessionTurn } from '../messages/session.ts'
import type { Run } from '../run/run.ts'

/** The last turn of each session of this process. */
const turns = /* @__PURE__ */ processWide(
  'session-turns',
  () => new WeakMap<Session, Promise<void>>(),
)

/**
 * Waits until no other run of this process has the session. A run inside of one that has it shares it at
 * once.
 * @throws LamellaError `session_busy` if that takes too long
 */
export async function enterSession(
  given: Session | SessionReference,
  run: Run,
  waitMs = 60_000,
): Promise<SessionTurn> {
  const around: Session[] = []
  for (let outer = run.parent; outer !== undefined; outer = outer.parent) {
    if (outer.session !== undefined) around.push(outer.session)
  }
  const late = new AbortController()
  const stopTimer = backgroundTimer(() => late.abort(busy(given.id, waitMs)), waitMs)
  const signal = AbortSignal.any([run.signal, late.signal])
  try {
    if ('enter' in given) {
      const entering = given.enter({ around, signal })
      return await unlessAborted(signal, entering).catch((error: unknown) => {
        entering.then((turn) => turn.leave()).catch(() => {})
        throw error
      })
    }
    const isShared = around.includes(given)
    const end = isShared ? () => {} : await takeTurn(turns, given, signal)
    return { session: given, leave: async () => end() }
  } finally {
    stopTimer()
  }
}

function busy(id: string, waitMs: number): LamellaError {
  return new LamellaError(
    `run: another run of the session "${id}" has not ended within ${waitMs} ms; a run inside of it needs \`parent: context.run\``,
    { code: 'session_busy' },
  )
}
