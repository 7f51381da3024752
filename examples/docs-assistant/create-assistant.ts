import type { ChatClient, MiddlewareInput } from '@lamella/core'
import { Agent } from '@lamella/core'
import type { DocsFolder } from './docs-folder.ts'
import { inFolder, inputGuardrail, modelLog, retry, timing, toolLog } from './docs-middleware.ts'
import { docsTools } from './docs-tools.ts'

/** Creates the assistant. `wrap` receives its middleware, such as those of a recorder. */
export function createAssistant(
  client: ChatClient,
  folder: DocsFolder,
  wrap: (list: MiddlewareInput) => MiddlewareInput = (list) => list,
): Agent {
  return new Agent({
    name: 'docs-assistant',
    client,
    instructions:
      'Answer questions about the documents of a folder. Search them, read the results, and name ' +
      'the file that your answer is from. Say so if the documents have no answer. Be brief, in plain text.',
    tools: docsTools(folder),
    // The first of each level is the outermost.
    middleware: wrap([timing, inputGuardrail, retry, modelLog, toolLog, inFolder(folder)]),
  })
}
