import type { Explanation } from '@lamella/core'
import { recordingLines } from '../lines/recording-lines.ts'
import { pageFrame, pageHashes, pageScript, pageStyle } from './page-assets.ts'

/**
 * Creates the page of a recording: one HTML file that loads and sends nothing, and shows recorded
 * content only as text. Incomplete lines and lines of an unknown version are omitted, and the page
 * states their number.
 * @param recording JSON lines as a `recorder()` writes them, or the result of `explain(agent)`:
 * the page then shows the middleware of a future run
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { pictureOf, recorder } from '@lamella/picture'
 * import { scriptedClient } from '@lamella/testing'
 *
 * let recording = ''
 * const record = recorder({ sink: { write: (lines) => void (recording += lines) } })
 * await new Agent({ client: scriptedClient(['Hi!']), middleware: record.middleware() }).run('Hello')
 * await record.flush()
 * const html = pictureOf(recording) // a page to write to a file
 * ```
 */
export function pictureOf(recording: string | Explanation): string {
  return pageWith(recording, undefined)
}

/** The page of a recording that still grows: it asks `live` for more lines. */
export function pageWith(recording: string | Explanation, live: string | undefined): string {
  const { lines, unreadable } = recordingLines(recording)
  const data = asText(JSON.stringify({ lines, unreadable, live }))
  const policy = [
    "default-src 'none'",
    `script-src '${pageHashes.script}'`,
    `style-src '${pageHashes.style}'`,
    ...(live === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Picture of a run</title>
<style>${pageStyle}</style>
</head>
<body>
${pageFrame}
<script type="application/json" id="data">${data}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
}

/** JSON that no parser of HTML takes for anything but text. */
function asText(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, (character) => escapes[character]!)
}
