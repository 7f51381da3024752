import type { PendingRequest } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import { DBOS, Error as DbosErrors } from '@dbos-inc/dbos-sdk'
import type { DurableEngine } from '../steps/durable-engine.ts'
import { workflowChanged } from '../steps/stored-call.ts'

/** Options of `dbos`. */
export interface DbosOptions {
  /**
   * Tries of a step that fails in a way that is worth a retry.
   * @default 3
   */
  readonly maxAttempts?: number | undefined
  /**
   * Seconds before the first retry.
   * @default 1
   */
  readonly intervalSeconds?: number | undefined
  /**
   * Factor by which that grows with each retry.
   * @default 2
   */
  readonly backoffRate?: number | undefined
}

/**
 * The workflow of DBOS that runs, as an engine for `runDurably`. Make it in the workflow's function. A paused run
 * waits in `DBOS.recv` until each request has its answer, see `answerDbos`.
 * @throws TypeError outside of a workflow
 */
export function dbos(options: DbosOptions = {}): DurableEngine {
  checkOptions('dbos', options, { maxAttempts: 1, intervalSeconds: 0, backoffRate: 1 })
  const { maxAttempts = 3, intervalSeconds = 1, backoffRate = 2 } = options
  const retries = { retriesAllowed: true, maxAttempts, intervalSeconds, backoffRate }
  const id = DBOS.workflowID
  if (id === undefined) throw new TypeError('dbos: call it in the function of a workflow of DBOS')
  return {
    id,
    sleep: (ms) => DBOS.sleep(ms),

    async step(name, work) {
      try {
        return await DBOS.runStep(work, { name, ...retries })
      } catch (error) {
        const code = error instanceof Error ? DbosErrors.getDBOSErrorCode(error) : undefined
        throw code === DbosErrors.UnexpectedStep
          ? workflowChanged(`"${name}" is not the next stored step`, error)
          : error
      }
    },

    async wait(requests) {
      await DBOS.setEvent(requestsKey, requests)
      const answers: [id: string, answer: unknown][] = []
      for (const request of requests) answers.push([request.id, await receive(request.id)])
      await DBOS.setEvent(requestsKey, [])
      return Object.fromEntries(answers)
    },
  }
}

async function receive(topic: string): Promise<unknown> {
  for (;;) {
    const message = await DBOS.recv<Answered>(topic, daySeconds)
    if (message !== null) return message.answer
  }
}

/** `DBOS`, or a `DBOSClient` of another process. */
export interface DbosMessages {
  /** Sends a message to a workflow, once for each idempotency key. */
  send(workflowId: string, message: unknown, topic: string, idempotencyKey: string): Promise<void>
  /** Reads an event of a workflow. */
  getEvent<Value>(workflowId: string, key: string, timeoutSeconds: number): Promise<Value | null>
}

/** Reads the requests that the run of a workflow waits for, from any process. Empty if there are none. */
export async function requestsOfDbos(
  messages: DbosMessages,
  workflowId: string,
): Promise<readonly PendingRequest[]> {
  return (await messages.getEvent<readonly PendingRequest[]>(workflowId, requestsKey, 0)) ?? []
}

/** Answers a request of the run of a workflow, from any process. The first answer counts. */
export function answerDbos(
  messages: DbosMessages,
  workflowId: string,
  requestId: string,
  answer: unknown,
): Promise<void> {
  return messages.send(workflowId, { answer } satisfies Answered, requestId, requestId)
}

interface Answered {
  readonly answer: unknown
}

const requestsKey = 'lamella.requests'
const daySeconds = 86_400
