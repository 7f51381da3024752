import type { FunctionInvocationContext } from '@lamella/core'
import { errorResult, GuardrailTripped } from '@lamella/core'
import { isControlFlow, unlessAborted } from '@lamella/core/authoring'
import type { FileEvent, PathOptions } from './file-options.ts'
import type { PathArgument } from './path-arguments.ts'
import { pathArguments, withPaths } from './path-arguments.ts'
import type { PathRules, ResolvedPath } from './resolve-path.ts'
import { nodeFileSystem, resolvePath } from './resolve-path.ts'

/** Creates the function that checks the paths of a tool call. It returns true if the tool may run. */
export function pathCheck(
  name: string,
  options: PathOptions,
  isShadow: boolean,
  report: (run: FunctionInvocationContext['run'], event: FileEvent) => void,
): (context: FunctionInvocationContext) => Promise<boolean> {
  const { mustExist = ({ readOnly }) => readOnly, rewrite = true, onViolation = 'refuse' } = options
  const isPath = keyTest(options.keys)
  const rules = rulesOf(options)

  return async (context) => {
    const { run, function: tool } = context
    let found: readonly PathArgument[]
    let isTooDeep = false
    try {
      found = pathArguments(context.arguments, (key) => isPath(key, tool))
    } catch {
      isTooDeep = true
      found = [{ value: '', keys: [] }]
    }
    if (found.length === 0) return true
    const needed = typeof mustExist === 'function' ? mustExist(tool) : mustExist
    const changes: PathArgument[] = []
    for (const argument of found) {
      const resolved = isTooDeep
        ? ({ violation: 'unreadable' } as const)
        : await judge(argument.value, needed, rules, context.signal)
      if (resolved.violation === undefined) {
        changes.push({ keys: argument.keys, value: resolved.path })
        continue
      }
      const { violation } = resolved
      const where = argument.keys.join('.')
      report(run, {
        middleware: name,
        kind: 'path',
        violation,
        action: isShadow ? 'shadow' : onViolation,
        tool: tool.name,
        argument: where,
      })
      if (isShadow) continue
      if (onViolation === 'block') {
        throw new GuardrailTripped({
          guardrail: name,
          level: 'function',
          stage: 'arguments',
          category: `path-${violation}`,
          message: '',
        })
      }
      const reason = `the path in \`${where}\` was refused: ${violation}`
      context.result = errorResult('denied', reason, `${reason}.`)
      return false
    }
    if (rewrite && !isShadow && !isTooDeep)
      context.arguments = withPaths(context.arguments, changes)
    return true
  }
}

/** Resolves a path. A path that cannot be resolved is refused. */
async function judge(
  path: string,
  mustExist: boolean,
  rules: PathRules,
  signal: AbortSignal,
): Promise<ResolvedPath | { readonly violation: 'unreadable' }> {
  try {
    return await unlessAborted(signal, resolvePath(path, mustExist, rules))
  } catch (error) {
    if (isControlFlow(error, signal)) throw error
    return { violation: 'unreadable' }
  }
}

function rulesOf(options: PathOptions): PathRules {
  const { dialects, decode = 2, maxBytes = 100 * 1024 * 1024, symlinks = 'resolve' } = options
  return {
    roots: options.roots,
    dialects: dialects ?? ['posix', 'win32'],
    decode,
    extensions: options.extensions,
    maxBytes,
    symlinks,
    fileSystem: options.fileSystem ?? nodeFileSystem,
  }
}

/** Excludes words such as `profile` and `direction`, and keys that begin with `xpath`. */
const pathKeys = /(?<!pro)file|(?<!^x)path|(?<!re)dir(?!ect(?!or(?:y|ies)))|folder/i

function keyTest(
  keys: PathOptions['keys'] = pathKeys,
): Exclude<PathOptions['keys'], RegExp | readonly string[] | undefined> {
  if (typeof keys === 'function') return keys
  if (!(keys instanceof RegExp)) return (key) => keys.includes(key)
  // Without the flags that keep `lastIndex` between tests.
  const pattern = new RegExp(keys.source, keys.flags.replace(/[gy]/g, ''))
  return (key) => pattern.test(key)
}
