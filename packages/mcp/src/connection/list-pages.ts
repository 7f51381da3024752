import type { McpClient, McpRequestOptions } from './mcp-client.ts'
import { sendRequest } from './mcp-client.ts'

/** Maximum number of pages of one list, for a server without a last page. */
const maxPages = 64

/** Reads a list page by page, up to `maxEntries`. */
export async function listPages(
  client: McpClient,
  list: 'tools' | 'resources' | 'prompts',
  maxEntries: number,
  options: McpRequestOptions,
): Promise<{ readonly entries: readonly unknown[]; readonly isWhole: boolean }> {
  const entries: unknown[] = []
  const seen = new Set<unknown>()
  let cursor: unknown
  for (let page = 0; page < maxPages && entries.length <= maxEntries; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const result = await sendRequest(client, `${list}/list`, params, options)
    const found: unknown = result[list]
    if (Array.isArray(found)) entries.push(...found.slice(0, maxEntries + 1))
    cursor = result['nextCursor']
    if (typeof cursor !== 'string' || seen.has(cursor)) {
      return { entries: entries.slice(0, maxEntries), isWhole: entries.length <= maxEntries }
    }
    seen.add(cursor)
  }
  return { entries: entries.slice(0, maxEntries), isWhole: false }
}
