import type { Block, Content, RunContext } from '@lamella/core'
import { GuardrailTripped, text } from '@lamella/core'
import { isControlFlow } from '@lamella/core/authoring'
import type { FileCount, FileRules } from './file-contents.ts'
import { fileViolation, isFile } from './file-contents.ts'
import type { ContentOptions, FileEvent } from './file-options.ts'

/** The run, level and stage in which files are checked. */
export interface FilePlace {
  readonly run: RunContext
  readonly signal: AbortSignal
  readonly level: Block['level']
  readonly stage: Block['stage']
  readonly tool?: string | undefined
}

/** Creates the function that checks the files among contents and returns the contents that may stay. */
export function contentCheck(
  name: string,
  options: ContentOptions,
  isShadow: boolean,
  report: (run: RunContext, event: FileEvent) => void,
): (
  contents: readonly Content[],
  place: FilePlace,
  count: FileCount,
) => Promise<readonly Content[]> {
  const rules = fileRules(options)
  const { onViolation = 'block' } = options

  const check: ReturnType<typeof contentCheck> = async (contents, place, count) => {
    if (!contents.some((content) => isFile(content) || content.type === 'function-result')) {
      return contents
    }
    const kept: Content[] = []
    for (const content of contents) {
      if (content.type === 'function-result') {
        const parts = await check(content.contents, place, count)
        kept.push(parts === content.contents ? content : { ...content, contents: parts })
        continue
      }
      const violation = isFile(content)
        ? await fileViolation(content, rules, count, place.signal).catch((error: unknown) => {
            if (isControlFlow(error, place.signal)) throw error
            return 'unreadable' as const
          })
        : undefined
      if (violation === undefined) {
        kept.push(content)
        continue
      }
      const { run, level, stage, tool } = place
      const action = isShadow ? 'shadow' : onViolation
      report(run, { middleware: name, kind: 'file', violation, action, ...(tool && { tool }) })
      if (action === 'shadow') kept.push(content)
      if (action === 'placeholder') kept.push(text(`[a file was left out: ${violation}]`))
      if (action === 'block') {
        const category = `file-${violation}`
        throw new GuardrailTripped({ guardrail: name, level, stage, category, message: '' })
      }
    }
    const isSame =
      kept.length === contents.length && kept.every((part, at) => part === contents[at])
    return isSame ? contents : kept
  }
  return check
}

function fileRules(options: ContentOptions): FileRules {
  return {
    allow: options.allow ?? ['image/*', 'application/pdf', 'text/*', 'application/json'],
    deny: options.deny ?? ['image/svg+xml', 'text/html', 'text/javascript'],
    sniff: options.sniff ?? true,
    maxBytes: options.maxBytes ?? 20 * 1024 * 1024,
    maxFiles: options.maxFiles ?? 10,
    maxTotalBytes: options.maxTotalBytes ?? 50 * 1024 * 1024,
    maxPixels: options.maxPixels ?? 40_000_000,
    maxNameChars: options.maxNameChars ?? 255,
    schemes: options.schemes ?? ['https:'],
    hosts: options.hosts,
    scan: options.scan,
  }
}
