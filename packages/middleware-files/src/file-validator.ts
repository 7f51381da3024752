import type { AgentMiddleware, FunctionMiddleware, Message } from '@lamella/core'
import { defineAgentMiddleware, defineFunctionMiddleware, reporter } from '@lamella/core/authoring'
import { contentCheck } from './content-check.ts'
import type { FileEvent, FileValidatorOptions } from './file-options.ts'
import { checkFileOptions } from './file-options.ts'
import { pathCheck } from './path-middleware.ts'

/**
 * Confines tools to folders and checks files. Checks paths in arguments by their spelling and by their
 * target; files in the input and in results by type, content, size and number.
 * @example
 * ```ts
 * import { Agent, jsonSchema, tool } from '@lamella/core'
 * import { fileValidator } from '@lamella/middleware-files'
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const read = tool({
 *   name: 'read_file',
 *   description: 'Reads a file of the project.',
 *   parameters: jsonSchema({ type: 'object', properties: { path: { type: 'string' } } }),
 *   readOnly: true,
 *   execute: ({ path }) => `the text of ${String(path)}`,
 * })
 * const client = scriptedClient([callFunction('read_file', { path: '../../etc/passwd' }), 'I cannot.'])
 * const agent = new Agent({
 *   client,
 *   tools: [read],
 *   middleware: fileValidator({
 *     paths: { roots: [process.cwd()] },
 *     onEvent: ({ violation, argument }) => console.log(`${argument}: ${violation}`), // path: escape
 *   }),
 * })
 * console.log((await agent.run('Read the passwords.')).text) // I cannot.
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function fileValidator(
  options: FileValidatorOptions,
): readonly (AgentMiddleware | FunctionMiddleware)[] {
  checkFileOptions(options)
  const { name = 'files', paths, mode } = options
  const contents = options.contents === true ? {} : options.contents
  const report = reporter<FileEvent>('files', options.onEvent)
  const isShadow = mode === 'shadow'
  const checkPaths = paths && pathCheck(name, paths, isShadow, report)
  const checkFiles = contents && contentCheck(name, contents, isShadow, report)
  const middlewares: (AgentMiddleware | FunctionMiddleware)[] = []

  if (checkFiles) {
    const input = defineAgentMiddleware('files', options, async (context, callNext) => {
      const { run, signal } = context
      const place = { run, signal, level: 'agent', stage: 'input' } as const
      const count = { files: 0, bytes: 0 }
      const checked = async (given: readonly Message[]): Promise<readonly Message[]> => {
        const messages = []
        for (const message of given) {
          const kept = await checkFiles(message.contents, place, count)
          messages.push(kept === message.contents ? message : { ...message, contents: kept })
        }
        return messages
      }
      context.messages = await checked(context.messages)
      run.gateInput(checked)
      await callNext()
    })
    middlewares.push(input)
  }
  const calls = defineFunctionMiddleware('files', options, async (context, callNext) => {
    if (checkPaths && !(await checkPaths(context))) return
    const result = await callNext()
    if (!checkFiles) return
    const { run, signal, function: tool } = context
    const place = { run, signal, level: 'function', stage: 'result', tool: tool.name } as const
    const kept = await checkFiles(result.contents, place, { files: 0, bytes: 0 })
    if (kept !== result.contents) context.result = { ...result, contents: kept, value: undefined }
  })
  middlewares.push(calls)
  return middlewares.map((middleware) => ({ ...middleware, inherited: true }))
}
