import type { AgentResponse, PendingRequest, RunStatus } from './agent-response.ts'
import type { ChatClient } from './chat-client.ts'
import type { ChatCallInput } from './chat-call.ts'
import type { ChatOptions, ToolChoice } from './chat-options.ts'
import type { ChatResponse } from './chat-response.ts'
import { chatResponse, contentFields } from './chat-response.ts'
import type { Content, FunctionCallContent } from './content.ts'
import { createId } from './create-id.ts'
import type { FunctionPipeline } from './function-call.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import { errorResult } from './function-result.ts'
import type { Message } from './message.ts'
import { toMessages } from './message.ts'
import { openCalls } from './open-calls.ts'
import type { Run } from './run.ts'
import type { BatchOutcome, Decision } from './tool-batch.ts'
import { runBatch } from './tool-batch.ts'
import { visibleHistory } from './visible-history.ts'

/** What the loop works with besides the run. */
export interface LoopInput {
  readonly client: ChatClient
  readonly instructions: string | undefined
  readonly options: ChatOptions
  readonly config: LoopConfiguration
  readonly callModel: (run: Run, input: ChatCallInput) => Promise<ChatResponse>
  readonly callFunction: FunctionPipeline
  /** Decisions about calls of earlier runs, by the assistant message that holds them. */
  readonly decided: ReadonlyMap<string, ReadonlyMap<string, Decision>>
  /** Requests of earlier runs that are still open, by call id. */
  readonly waiting: ReadonlyMap<string, PendingRequest>
}

/** Model call, tool calls, model call … until there is an answer or a reason to stop. */
export async function runLoop(run: Run, input: LoopInput): Promise<AgentResponse> {
  const loop = new FunctionLoop(run, input)
  for (const [messageId, decisions] of input.decided) {
    const ended = await loop.continueBatch(messageId, decisions)
    if (ended !== undefined) return ended
  }
  for (;;) {
    const ended = await loop.turn()
    if (ended !== undefined) return ended
  }
}

class FunctionLoop {
  readonly #run: Run
  readonly #input: LoopInput
  #iteration: number
  #functionCalls: number
  #consecutiveErrors: number
  #conversationId: string | undefined
  /** With a conversation at the provider: how many messages it has seen. */
  #sent = 0
  #last: ChatResponse | undefined
  /** Why tools are off, once they are. */
  #toolsOff: string | undefined

  constructor(run: Run, input: LoopInput) {
    this.#run = run
    this.#input = input
    const { checkpoint } = run
    this.#iteration = checkpoint?.iteration ?? 0
    this.#functionCalls = checkpoint?.functionCalls ?? 0
    this.#consecutiveErrors = checkpoint?.consecutiveErrors ?? 0
    this.#conversationId = input.options.conversationId ?? checkpoint?.conversationId ?? run.session?.conversationId
    this.#note()
  }

  /** One model call and what follows from it; the response if the run is over. */
  async turn(): Promise<AgentResponse | undefined> {
    const run = this.#run
    const { config, options } = this.#input
    if (this.#toolsOff === undefined && this.#iteration >= config.maxIterations) this.#toolsOff = 'max_iterations'
    const off = this.#toolsOff !== undefined
    const response = await this.#callModel(off ? { ...options, toolChoice: 'none' } : options)
    const calls = openCalls(response.messages)
    if (run.stopped !== undefined) return this.#stop(calls)
    if (calls.length === 0) return this.#finish(this.#status())
    if (off || !config.enabled) {
      if (off) this.#refuse(calls, 'tools are off')
      return this.#finish(this.#status())
    }
    const message = lastWithCalls(response.messages)
    return this.#work(message.id, calls, undefined, isRequired(options.toolChoice))
  }

  /** Goes on with calls of an earlier run, now that something was decided about them. */
  async continueBatch(
    messageId: string,
    decisions: ReadonlyMap<string, Decision>,
  ): Promise<AgentResponse | undefined> {
    const { all } = this.#run.messages
    const message = all.find(({ id }) => id === messageId)
    if (message === undefined) return undefined
    const calls = openCalls(all.slice(all.indexOf(message))).filter(({ callId }) =>
      message.contents.some((content) => content.type === 'function-call' && content.callId === callId),
    )
    return this.#work(messageId, calls, decisions, isRequired(this.#input.options.toolChoice))
  }

  async #callModel(options: ChatOptions): Promise<ChatResponse> {
    const run = this.#run
    const { client, instructions, callModel } = this.#input
    run.iteration = this.#iteration
    this.#note()
    const { all } = run.messages
    const messages = this.#conversationId === undefined ? all.slice() : all.slice(this.#sent)
    const tools = run.tools.visible
    const response = await callModel(run, {
      client,
      instructions,
      messages: visibleHistory(messages),
      options:
        tools === options.tools && this.#conversationId === options.conversationId
          ? options
          : { ...options, ...(tools.length > 0 && { tools }), conversationId: this.#conversationId },
    })
    run.signal.throwIfAborted()
    this.#iteration++
    this.#last = response
    if (response.conversationId !== undefined) {
      this.#conversationId = response.conversationId
      if (run.session !== undefined) run.session.conversationId = response.conversationId
    }
    run.messages.add(response.messages)
    this.#sent = run.messages.all.length
    return response
  }

  async #work(
    messageId: string,
    calls: readonly FunctionCallContent[],
    decisions: ReadonlyMap<string, Decision> | undefined,
    required: boolean,
  ): Promise<AgentResponse | undefined> {
    const run = this.#run
    const { config, callFunction } = this.#input
    const budget = config.maxFunctionCalls - this.#functionCalls
    const outcome = await runBatch(run, { calls, decisions, waiting: this.#input.waiting, budget }, callFunction, config)
    this.#functionCalls += outcome.executed
    this.#addResults(outcome, messageId)
    this.#countErrors(outcome)
    if (outcome.pending.length > 0 || outcome.interrupted) return this.#pause(messageId, outcome.pending)
    run.toolResults = undefined
    if (outcome.terminates !== undefined) return this.#finish('terminated', outcome.terminates)
    if (run.stopped !== undefined) return this.#stop([])
    if (outcome.direct !== undefined) return this.#answerDirectly(outcome.direct.contents)
    return required ? this.#finish('completed') : undefined
  }

  #addResults({ results }: BatchOutcome, messageId: string): void {
    if (results.length === 0) return
    const message: Message = { id: createId('msg'), role: 'tool', contents: results }
    const { messages } = this.#run
    const last = messages.all.at(-1)
    // Results stand behind their calls, also when the talk has gone on since.
    if (last === undefined || last.id === messageId || last.role === 'tool' || messages.added.length > 0) messages.add([message])
    else messages.insertAfter(lastOfGroup(messages.all, messageId), message)
    this.#show(message)
  }

  #countErrors({ failed, executed, results }: BatchOutcome): void {
    const { maxConsecutiveErrorsPerRequest, maxFunctionCalls } = this.#input.config
    if (results.length > 0) this.#consecutiveErrors = failed ? this.#consecutiveErrors + 1 : 0
    if (failed && this.#consecutiveErrors >= Math.max(1, maxConsecutiveErrorsPerRequest)) {
      this.#toolsOff ??= 'max_consecutive_errors'
    }
    const refused = results.some(({ error }) => error?.code === 'budget')
    if (refused || (executed > 0 && this.#functionCalls >= maxFunctionCalls)) this.#toolsOff ??= 'max_function_calls'
  }

  #pause(messageId: string, pending: readonly PendingRequest[]): AgentResponse {
    const requests: Content[] = []
    for (const entry of pending) {
      if (entry.kind === 'approval' && !this.#input.waiting.has(entry.request.call.callId)) requests.push(entry.request)
    }
    if (requests.length > 0) {
      const message = this.#run.messages.all.find(({ id }) => id === messageId)!
      this.#run.messages.replace({ ...message, contents: [...message.contents, ...requests] })
      this.#run.sink.push({ contents: requests, role: 'assistant', messageId })
    }
    this.#run.pausedBatch = messageId
    return { ...this.#finish('paused'), pending }
  }

  #answerDirectly(contents: readonly Content[]): AgentResponse {
    this.#add({ id: createId('msg'), role: 'assistant', contents })
    return this.#finish('completed', 'return_direct')
  }

  #stop(calls: readonly FunctionCallContent[]): AgentResponse {
    const { reason, response } = this.#run.stopped!
    this.#refuse(calls, 'the run was stopped')
    if (response !== undefined) {
      const messages = typeof response === 'string' ? toMessages(response, 'assistant') : chatResponse(response).messages
      for (const message of messages) this.#add(message)
    }
    return this.#finish('terminated', reason)
  }

  /** Calls that will not run get a result too, so that the transcript stays valid. */
  #refuse(calls: readonly FunctionCallContent[], why: string): void {
    if (calls.length === 0) return
    const { contents, error } = errorResult('cancelled', why)
    this.#add({
      id: createId('msg'),
      role: 'tool',
      contents: calls.map(({ callId, name }) => ({ type: 'function-result', callId, name, contents, error })),
    })
  }

  #add(message: Message): void {
    this.#run.messages.add([message])
    this.#show(message)
  }

  #show({ id, role, contents }: Message): void {
    this.#run.sink.push({ contents, role, messageId: id })
  }

  #status(): RunStatus {
    return this.#toolsOff === 'max_iterations' ? 'max_iterations' : 'completed'
  }

  #finish(status: RunStatus, reason: string | undefined = this.#toolsOff): AgentResponse {
    this.#note()
    const run = this.#run
    const { id, finishReason, model, metadata = {} } = this.#last ?? {}
    const messages = [...run.messages.added]
    return {
      id,
      messages,
      ...contentFields(messages),
      usage: run.usage,
      finishReason,
      model,
      conversationId: this.#conversationId,
      metadata,
      status,
      runId: run.id,
      attempts: run.attempts,
      pending: [],
      ...(reason === undefined ? undefined : { reason }),
    }
  }

  #note(): void {
    this.#run.loopState = {
      iteration: this.#iteration,
      functionCalls: this.#functionCalls,
      consecutiveErrors: this.#consecutiveErrors,
    }
  }
}

function isRequired(toolChoice: ChatOptions['toolChoice']): boolean {
  return toolChoice === 'required' || (typeof toolChoice === 'object' && (toolChoice as ToolChoice & object).mode === 'required')
}

function lastWithCalls(messages: readonly Message[]): Message {
  return messages.findLast(({ contents }) => contents.some(({ type }) => type === 'function-call'))!
}

/** The last message of the calls' group: the calls themselves, or results that follow them. */
function lastOfGroup(messages: readonly Message[], messageId: string): string {
  let at = messages.findIndex(({ id }) => id === messageId)
  while (messages[at + 1]?.role === 'tool') at++
  return messages[at]!.id
}
