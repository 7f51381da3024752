import { testRandom } from '@lamella/testing'
import { expect, it } from 'vitest'
import type { AgentResponse, Checkpoint, Session, SessionSnapshot } from '../index.ts'
import { createSession } from '../index.ts'
import type { Script } from './journal-model.test-helper.ts'
import {
  answerOf,
  answerTo,
  executedIn,
  makeScript,
  Process,
  uncertainIn,
} from './journal-model.test-helper.ts'
import { runs } from '../../../../tests/support/runs.ts'

// Random runs of agents with sub-agents three levels deep, which pause, die and continue in new processes, against
// a model that knows what comes of the script.
const seeds = runs(300)
const first = Number(process.env['JOURNAL_FIRST_SEED'] ?? 1)

function copy<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value)
}

/** All that outlives a process. */
interface Kept {
  readonly checkpoint?: Checkpoint | undefined
  readonly answers: Readonly<Record<string, unknown>>
  readonly session: SessionSnapshot | undefined
}

interface Story {
  readonly response: AgentResponse
  readonly session: SessionSnapshot | undefined
  readonly deaths: number
  readonly pauses: number
}

/** Runs a script to its end, through as many processes as it takes. */
async function play(
  script: Script,
  executed: Map<string, number>,
  random: () => number,
): Promise<Story> {
  let kept: Kept = {
    answers: {},
    session: random() < 0.5 ? createSession().toJSON() : undefined,
  }
  let deaths = 0
  for (let pauses = 0; ; ) {
    const dies = deaths < 12 && random() < 0.6
    const alive = new Process(script, executed, dies ? Math.floor(random() * 25) : Infinity)
    const session = kept.session && createSession(copy(kept.session))
    // oxlint-disable-next-line no-await-in-loop
    const response = await runIn(alive, kept, session, random() < 0.5)
    if (response === undefined) {
      deaths++
      if (alive.saved !== undefined) kept = { ...kept, checkpoint: alive.saved, answers: {} }
      continue
    }
    const next = session?.toJSON()
    if (response.status !== 'paused') return { response, session: next, deaths, pauses }
    expect(++pauses).toBeLessThan(80)
    const some = response.pending.filter(
      (_, at) => at === pauses % response.pending.length || random() < 0.5,
    )
    const answers = Object.fromEntries(some.map((request) => [request.id, answerTo(request)]))
    kept = { checkpoint: copy(response.checkpoint), answers: copy(answers), session: copy(next) }
  }
}

/** The response, or undefined if the process died. */
async function runIn(
  alive: Process,
  { checkpoint, answers }: Kept,
  session: Session | undefined,
  stream: boolean,
): Promise<AgentResponse | undefined> {
  const { agent } = alive
  const options = { ...alive.options(session), stream } as { stream: true }
  const running =
    checkpoint === undefined ? agent.run('Go', options) : agent.resume(checkpoint, answers, options)
  try {
    return await (stream ? running.finalResponse() : (running as unknown as Promise<AgentResponse>))
  } catch (error) {
    if (alive.isDead) return undefined
    throw error
  }
}

it(
  `${seeds} random runs that pause and die end as the model says, and execute no call twice`,
  async () => {
    const seen = { deaths: 0, pauses: 0, calls: 0, uncertain: 0 }
    for (let seed = first; seed < first + seeds; seed++) {
      const random = testRandom(seed)
      const script = makeScript(random)
      const executed = new Map<string, number>()

      // oxlint-disable-next-line no-await-in-loop
      const { response, session, deaths, pauses } = await play(script, executed, random)

      const uncertain = uncertainIn(response.text)
      const expected = executedIn(script)
      expect(`${seed} ${response.status} ${response.text}`).toBe(
        `${seed} completed ${answerOf(script, uncertain)}`,
      )
      const wrong = expected.filter(({ key, kind }) => {
        const times = executed.get(key) ?? 0
        if (kind === 'safe') return times === 0
        return times > 1 || (times === 0 && !uncertain.has(key))
      })
      const keys = new Set(expected.map(({ key }) => key))
      expect({
        seed,
        wrong,
        unasked: [...executed.keys()].filter((key) => !keys.has(key)),
      }).toEqual({
        seed,
        wrong: [],
        unasked: [],
      })
      expect(deaths === 0 ? uncertain.size : 0).toBe(0)
      const said = session?.messages.filter(({ role }) => role === 'user') ?? ['Go']
      expect([seed, said.length, session?.pending ?? []]).toEqual([seed, 1, []])
      seen.deaths += deaths
      seen.pauses += pauses
      seen.calls += expected.length
      seen.uncertain += uncertain.size
    }
    if (seeds > 100) console.log(seen)
    expect(Math.min(seen.deaths, seen.pauses)).toBeGreaterThan(seeds / 4)
  },
  60_000 + seeds * 1000,
)
