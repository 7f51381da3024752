import type { AgentInfo, RunContext } from '@lamella/core'
import { jsonSchema } from '@lamella/core'
import { validate, unlessAborted } from '@lamella/core/authoring'
import { boundedOutputSchema, boundedSchema } from './bounded-schema.ts'
import { cleanText } from '../base/clean-text.ts'
import type { McpReport } from '../base/mcp-event.ts'
import type { McpElicitation, McpElicitationAnswer } from '../base/mcp-questions.ts'
import { mcpElicitation } from '../base/mcp-questions.ts'
import type { ClientSetup } from '../connection/open-client.ts'
import { sample } from '../contents/sample.ts'
import type { McpSamplingOptions } from '../contents/sample.ts'

/** A call that a server may ask about. */
export interface OpenCall {
  readonly run: RunContext
  /** The tool, by the name that the model is shown. */
  readonly tool: string
  readonly signal: AbortSignal
  /** Stops the call's clock while a person thinks. */
  readonly untimed: <Value>(work: () => Promise<Value>) => Promise<Value>
  /** Set after a person declined: the rest of the call asks nobody. */
  declined?: boolean
  /** Model calls that the server has had for this call. */
  samplings?: number
}

/** Questions that are allowed, and the time that a person has. */
export interface QuestionSettings {
  readonly server: string
  readonly elicitation: 'ask' | 'decline'
  readonly elicitationTimeoutMs: number
  readonly sampling: McpSamplingOptions | undefined
  readonly report: McpReport
}

type Params = Readonly<Record<string, unknown>>

const maxTextChars = 4000

/**
 * Handles questions of a server while it runs tools: only the caller of the run that made the call
 * gets them.
 */
export class ServerQuestions {
  readonly #settings: QuestionSettings
  readonly #calls = new Set<OpenCall>()
  readonly #agents = new WeakMap<RunContext, AgentInfo>()

  constructor(settings: QuestionSettings) {
    this.#settings = settings
  }

  /** Declares what may be asked to a new client, and answers questions that come without a call. */
  clientSetup(): Pick<ClientSetup, 'capabilities' | 'prepare'> {
    const { elicitation, sampling } = this.#settings
    const asks = elicitation === 'ask'
    return {
      capabilities: {
        ...(asks && { elicitation: { form: {}, url: {} } }),
        ...(sampling !== undefined && { sampling: {} }),
      },
      prepare: (client) => {
        const answer = ({ method, params }: { method: string; params?: object }): Promise<never> =>
          this.#answerUnnamed(method, (params ?? {}) as Params) as Promise<never>
        if (asks) client.setRequestHandler(elicit, answer)
        if (sampling !== undefined) client.setRequestHandler('sampling/createMessage', answer)
      },
    }
  }

  /** Notes whose middleware a server's model call in this run goes through. */
  enter(run: RunContext, agent: AgentInfo): void {
    this.#agents.set(run, agent)
  }

  /** Runs `work` while the server may ask about `call`. */
  async during<Value>(call: OpenCall, work: () => Promise<Value>): Promise<Value> {
    this.#calls.add(call)
    try {
      return await work()
    } finally {
      this.#calls.delete(call)
    }
  }

  /**
   * Answers a question that names no call, as in older revisions. It is passed on only if all open
   * calls belong to one run, so that no other person is asked.
   */
  #answerUnnamed(method: string, params: Params): Promise<object> {
    const [call, ...others] = this.#calls
    const isClear = call !== undefined && others.every(({ run }) => run === call.run)
    if (isClear) return this.answer(call, method, params)
    return Promise.resolve(this.#refuse(method, 'it is not known which run it belongs to'))
  }

  /** Answers a question of the server about a call. */
  answer(call: OpenCall, method: string, params: Params): Promise<object> {
    return call.untimed(async () => {
      if (method === 'elicitation/create') return this.#elicit(call, params)
      if (method === 'sampling/createMessage') return this.#sample(call, params)
      return this.#refuse(method, 'it is not supported', call.run)
    })
  }

  async #elicit(call: OpenCall, params: Params): Promise<object> {
    const { elicitation, elicitationTimeoutMs, server } = this.#settings
    if (elicitation === 'decline') return this.#refuse(elicit, 'it is not allowed', call.run)
    if (call.declined === true) return decline
    const { tool, run, signal } = call
    let data: McpElicitation
    try {
      data = questionOf(server, tool, params)
    } catch {
      return this.#refuse(elicit, 'its address or schema is not accepted', run)
    }
    try {
      const request = { ...mcpElicitation(data), timeoutMs: elicitationTimeoutMs }
      const answer = await unlessAborted(signal, run.request(request))
      const checked = await checkedAnswer(answer, data)
      if (checked === undefined) return this.#refuse(elicit, 'the answer does not fit', run)
      call.declined = checked.action === 'decline'
      return checked
    } catch {
      signal.throwIfAborted()
      return this.#refuse(elicit, 'nobody answered', run)
    }
  }

  async #sample(call: OpenCall, params: Params): Promise<object> {
    const { sampling, server } = this.#settings
    const { run, signal } = call
    const agent = this.#agents.get(run)
    if (sampling === undefined || agent === undefined) {
      return this.#refuse('sampling/createMessage', 'it is not allowed', run)
    }
    try {
      return await sample({ server, call, agent, params, options: sampling })
    } catch {
      signal.throwIfAborted()
      // The server must not learn what a guardrail or a provider said.
      return this.#refuse('sampling/createMessage', 'it was refused, or failed', run)
    }
  }

  #refuse(method: string, reason: string, run?: RunContext): object {
    this.#settings.report({ status: 'question_declined', reason }, run)
    if (method === elicit) return { action: 'cancel' }
    throw new Error(`${method}: ${reason}`)
  }
}

const elicit = 'elicitation/create'
const decline: McpElicitationAnswer = { action: 'decline' }

/** @throws TypeError for an address that is none, RangeError for a schema that is none */
function questionOf(server: string, tool: string, params: Params): McpElicitation {
  const { message, mode, url, requestedSchema } = params
  const asked = {
    server,
    tool,
    message: cleanText(typeof message === 'string' ? message : '', maxTextChars),
  }
  if (mode === 'url') return { ...asked, ...pageOf(String(url)) }
  return { ...asked, requestedSchema: boundedSchema(requestedSchema ?? {}).shown }
}

/** The page of a question. A person opens it, so it must be one of the web and no script or file. */
function pageOf(url: string): { readonly url: string; readonly host: string } {
  const { protocol, host, username, href } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') throw new TypeError('it is no page')
  if (username !== '') throw new TypeError('its address hides the host')
  return { url: href, host }
}

/** The answer as the server gets it, or nothing if its values do not fit. */
async function checkedAnswer(
  { action, content }: McpElicitationAnswer,
  { url, requestedSchema }: McpElicitation,
): Promise<McpElicitationAnswer | undefined> {
  if (action !== 'accept') return { action }
  if (url !== undefined) return { action }
  const schema = boundedOutputSchema(requestedSchema) ?? {}
  const whole = { ...defaultsOf(schema['properties']), ...content }
  const { issues } = await validate(jsonSchema(schema), whole)
  return issues === undefined ? { action, content: whole } : undefined
}

function defaultsOf(properties: unknown): Params {
  const fields = Object.entries((properties ?? {}) as Readonly<Record<string, Params | undefined>>)
  return Object.fromEntries(
    fields.flatMap(([name, field]) =>
      field?.['default'] === undefined ? [] : [[name, field['default']]],
    ),
  )
}
