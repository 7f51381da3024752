import type { FunctionInvocationContext, FunctionResult, RunContext } from '@lamella/core'
import { LamellaError, ToolError, errorResult, jsonSchema, text } from '@lamella/core'
import { validate } from '@lamella/core/authoring'
import type { Connection } from '../connection/connection.ts'
import { CallClock } from '../base/call-clock.ts'
import { statusOf } from '../connection/lost-connection.ts'
import { sendRequest } from '../connection/mcp-client.ts'
import type { McpReport } from '../base/mcp-event.ts'
import { progressOf, yieldWhile } from '../base/progress.ts'
import type { McpDefinition } from './read-definition.ts'
import { contentsOf, ResultTooLarge } from '../contents/result-contents.ts'
import type { OpenCall, ServerQuestions } from './server-questions.ts'

/** Settings that all calls of one server share. */
export interface CallSetup {
  readonly server: string
  readonly connection: Connection
  readonly questions: ServerQuestions
  readonly report: McpReport
  /** Called when the server does not know a tool that it had listed. */
  readonly onUnknownTool: () => void
  readonly timeoutMs: number
  readonly maxCallMs: number
  readonly maxResultBytes: number
}

/** Rounds of questions that one call may have. A server that asks the same again and again ends here. */
const maxRounds = 10

type Fields = Readonly<Record<string, unknown>>

/** Calls a tool of a server. Yields its progress. */
export async function* callTool(
  setup: CallSetup,
  definition: McpDefinition,
  args: Fields,
  context: FunctionInvocationContext,
): AsyncGenerator<unknown, FunctionResult> {
  const { run, signal } = context
  const clock = new CallClock(signal, setup)
  try {
    const result = yield* yieldWhile((push) =>
      request(setup, definition, args, context, clock, (progress) => {
        clock.restart()
        push(progressOf(progress))
      }),
    )
    return await toResult(setup, definition, result, run, context.function.name)
  } catch (error) {
    signal.throwIfAborted()
    if (clock.signal.aborted) throw clock.signal.reason
    return failure(setup, error, context)
  } finally {
    clock.stop()
  }
}

function request(
  { connection, questions }: CallSetup,
  { name, forSdk }: McpDefinition,
  args: Fields,
  { run, function: tool }: FunctionInvocationContext,
  clock: CallClock,
  onprogress: (progress: unknown) => void,
): Promise<Fields> {
  const { signal } = clock
  const call: OpenCall = {
    run,
    tool: tool.name,
    signal,
    untimed: (work) => clock.pausedFor(work),
  }
  let params: Fields = { name, arguments: args }
  const work = async (client: Parameters<typeof sendRequest>[0]): Promise<Fields> => {
    const options = {
      signal,
      onprogress,
      toolDefinition: forSdk,
      allowInputRequired: connection.isOwn,
    }
    for (let round = 0; round <= maxRounds; round++) {
      const result = await sendRequest(client, 'tools/call', params, options)
      if (result['resultType'] !== 'input_required' || !connection.isOwn) return result
      const { inputRequests, requestState } = result
      const inputResponses = await answers(questions, call, (inputRequests ?? {}) as Fields)
      params = { name, arguments: args, inputResponses, requestState }
    }
    throw new ToolError('the server asked too many questions')
  }
  return questions.during(call, () => connection.use(signal, tool.idempotent, work))
}

async function answers(questions: ServerQuestions, call: OpenCall, asked: Fields): Promise<Fields> {
  const given: [string, unknown][] = []
  for (const [key, question] of Object.entries(asked)) {
    const { method, params } = question as { readonly method: string; readonly params: Fields }
    given.push([key, await questions.answer(call, method, params ?? {})])
  }
  return Object.fromEntries(given)
}

async function toResult(
  { server, maxResultBytes, report }: CallSetup,
  { outputSchema }: McpDefinition,
  result: Fields,
  run: RunContext,
  tool: string,
): Promise<FunctionResult> {
  const { isError } = result
  const structuredContent = result['structuredContent'] ?? undefined
  const contents = contentsOf(result['content'], maxResultBytes)
  if (structuredContent !== undefined) {
    const json = JSON.stringify(structuredContent)
    if (json.length > maxResultBytes) throw new ResultTooLarge()
    if (!contents.some(({ type }) => type === 'text')) contents.push(text(json))
  }
  if (isError === true) {
    const message = `the MCP server "${server}" said that the call failed`
    return { contents, error: { code: 'tool_failed', message } }
  }
  if (outputSchema !== undefined) {
    const { issues } = await validate(jsonSchema(outputSchema), structuredContent)
    if (issues !== undefined) report({ status: 'output_invalid', tool }, run)
  }
  return { contents, value: structuredContent ?? contents }
}

/** The result of a call that failed on its way. It never fails the run. */
function failure(
  { server, maxResultBytes, onUnknownTool, report }: CallSetup,
  error: unknown,
  { run, function: { name: tool } }: FunctionInvocationContext,
): FunctionResult {
  if (error instanceof ToolError) throw error
  if (error instanceof ResultTooLarge) {
    const detail = `The result has more than ${maxResultBytes} bytes.`
    return errorResult(
      'tool_failed',
      `the result of the MCP server "${server}" is too large`,
      detail,
    )
  }
  if (LamellaError.is(error)) {
    return errorResult('tool_failed', error.message, `Reason: ${error.message}.`)
  }
  const { code, message } = error as { readonly code?: string | number; readonly message?: string }
  const told = `the MCP server "${server}" answered with the error ${code ?? 'unknown'}`
  const status = statusOf(error)
  if (status !== undefined || typeof code !== 'number') {
    const reason = status === undefined ? 'the call was not answered' : `HTTP status ${status}`
    report({ status: 'call_failed', tool, reason }, run)
    return errorResult('tool_failed', `${told} (${reason})`, `Reason: ${reason}.`)
  }
  if (code === invalidParams) onUnknownTool()
  // As with `isError`, these are the server's own words for the model.
  const words = text(`Error: ${String(message).slice(0, 2000)}`)
  return { contents: [words], error: { code: 'tool_failed', message: told } }
}

/** Of JSON-RPC. Servers also answer it for a tool that they do not have. */
const invalidParams = -32_602
