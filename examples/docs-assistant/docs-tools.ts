import type { Tool } from '@lamella/core'
import { tool } from '@lamella/core'
import { z } from 'zod'
import type { DocsFolder } from './docs-folder.ts'
import { searchDocs } from './search-docs.ts'

const maxListed = 300
const maxReadChars = 24_000

/** Makes the tools of the assistant for a folder: list, search, read. */
export function docsTools(folder: DocsFolder): readonly Tool[] {
  return [
    tool({
      name: 'list_files',
      description: 'Lists the documents of the folder.',
      readOnly: true,
      async execute() {
        const files = await folder.list()
        return { total: files.length, files: files.slice(0, maxListed) }
      },
    }),
    tool({
      name: 'search_docs',
      description: 'Finds the sections of the documents that fit a query best.',
      parameters: z.object({ query: z.string().describe('A few words to look for') }),
      readOnly: true,
      execute: ({ query }) => searchDocs(folder, query),
    }),
    tool({
      name: 'read_file',
      description: 'Reads one document. Long ones come in pieces.',
      parameters: z.object({
        path: z.string().describe('As list_files and search_docs name it'),
        fromLine: z.int().min(1).optional().describe('The first line to read, 1 by default'),
      }),
      readOnly: true,
      execute: async ({ path, fromLine = 1 }) => piece(await folder.read(path), fromLine),
    }),
  ]
}

function piece(document: string, fromLine: number): string {
  const lines = document.split('\n').slice(fromLine - 1)
  let chars = 0
  const end = lines.findIndex((line) => (chars += line.length + 1) > maxReadChars)
  if (end < 1) return lines.join('\n').slice(0, maxReadChars)
  return `${lines.slice(0, end).join('\n')}\n(cut here: continue with fromLine ${fromLine + end})`
}
