import type { AgentMiddleware, FunctionMiddleware } from '@lamella/core'
import { defineAgentMiddleware, defineFunctionMiddleware, reporter } from '@lamella/core/authoring'
import { contentCheck } from './content-check.ts'
import type { FileEvent, FileValidatorOptions } from './file-options.ts'
import { checkFileOptions } from './file-options.ts'
import { pathCheck } from './path-middleware.ts'

/**
 * Keeps tools within folders, and files within what they may be. Paths in arguments are judged by how
 * they are written and by where they lead; files in the input and in results by their type, their bytes,
 * their size and their number.
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
      const messages = []
      for (const message of context.messages) {
        const kept = await checkFiles(message.contents, place, count)
        messages.push(kept === message.contents ? message : { ...message, contents: kept })
      }
      context.messages = messages
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
  return middlewares
}
