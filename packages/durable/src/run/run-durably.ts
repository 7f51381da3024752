import type { AgentResponse, MessageInput, RunOptions } from '@lamella/core'
import { Agent } from '@lamella/core'
import { wrongOption } from '@lamella/core/authoring'
import type { DurableOptions } from '../steps/durable.ts'
import { durableIn } from '../steps/durable.ts'
import type { StoredUpdates } from '../updates/stored-updates.ts'
import { withDurable } from './place-in-list.ts'
import { toolFinders } from './tool-finders.ts'
import { WorkflowScope } from './workflow-scope.ts'

/**
 * Runs an agent in a workflow of a durable engine, so that the run continues after a crash: call it in the
 * workflow's function, with the same input in every pass. Model calls and tool calls are steps, see `durable`. Ids
 * and times outside of steps are equal in every pass. If the run pauses and the engine has `wait`, it waits there
 * and continues. The workflow's id takes the place of an `idempotencyKey`.
 * With `updates`, the run streams, and other processes read it.
 * @throws LamellaError `workflow_changed` if the stored steps are not those of this agent
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { runDurably } from '@lamella/durable'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const stored = new Map<string, unknown>()
 * const step = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
 *   if (!stored.has(name)) stored.set(name, await work())
 *   return stored.get(name) as Value
 * }
 * const agent = new Agent({ client: scriptedClient(['Hello.']) })
 * const { text, runId } = await runDurably(agent, 'Hi.', { id: 'greeting-1', step })
 * console.log(text, runId) // Hello. greeting-1
 * ```
 */
export async function runDurably<Data, Value>(
  agent: Agent<Data, Value>,
  input: MessageInput,
  engine: DurableOptions & { readonly updates?: StoredUpdates | undefined },
  options: Omit<RunOptions<Data>, 'idempotencyKey'> = {},
): Promise<AgentResponse<Value>> {
  const { updates, ...steps } = engine
  const { id, wait } = engine
  const write = updates && (await beginUpdates(updates, id, options))
  const { step, within, clock, random } = await WorkflowScope.begin(engine)
  const tools = toolFinders(options)
  const pieces = durableIn({ ...steps, step }, within, tools.find)
  const middleware = withDurable(agent.middleware, [tools.middleware, ...pieces])
  // An agent has its options as properties.
  // oxlint-disable-next-line typescript/no-misused-spread
  const inWorkflow = new Agent<Data>({ ...agent, middleware, clock, random })
  const given: RunOptions<Data> = { runId: id, ...options }
  let response: AgentResponse = await (write === undefined
    ? inWorkflow.run(input, given)
    : write(inWorkflow.run(input, { ...given, stream: true })))
  while (response.status === 'paused' && response.pending.length > 0) {
    if (wait === undefined) break
    // Parallel calls ask in another order in each pass, and an engine knows its waits by their order.
    const answers = await wait(response.pending.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    // The time of the answers is that of this step.
    await step('answered', async () => null)
    const { answers: _answers, ...rest } = given
    const checkpoint = response.checkpoint!
    response = await (write === undefined
      ? inWorkflow.resume(checkpoint, answers, rest)
      : write(inWorkflow.resume(checkpoint, answers, { ...rest, stream: true })))
  }
  return response as AgentResponse<Value>
}

function beginUpdates(
  updates: StoredUpdates,
  id: string | undefined,
  { tenant, principal }: RunOptions,
): ReturnType<StoredUpdates['begin']> {
  if (id === undefined) throw wrongOption('runDurably', 'id', 'a string beside `updates`', id)
  return updates.begin(id, { tenant, principal })
}
