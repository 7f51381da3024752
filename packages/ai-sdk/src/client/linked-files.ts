import type { Content, Message, UriContent } from '@lamella/core'
import { unlessAborted } from '@lamella/core/authoring'
import { mediaTypeOf, sourceOf } from '../model/file-data.ts'
import type { CallableModel } from '../model/language-model.ts'
import { linkText } from './tool-output.ts'

/** A file that was downloaded. */
export interface DownloadedFile {
  /** Bytes of the file. */
  readonly data: Uint8Array
  /** Media type, such as the `content-type` of the answer without its parameters. */
  readonly mediaType?: string | undefined
}

/** Downloads a file that a model does not open by itself. */
export type Download = (
  url: URL,
  options: { readonly signal: AbortSignal },
) => DownloadedFile | Promise<DownloadedFile>

/**
 * Returns the messages with the file instead of each link that the model does not open, or with a
 * text if there is no `download`.
 */
export async function withLinkedFiles(
  messages: readonly Message[],
  model: CallableModel,
  download: Download | undefined,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  if (!messages.some(({ contents }) => contents.some((content) => isLink(content)))) return messages
  const supported = await unlessAborted(signal, Promise.resolve(model.supportedUrls))
  const reach = async (content: Content): Promise<Content> => {
    if (!isLink(content) || isSupported(content, supported)) return content
    if (download === undefined) return { type: 'text', text: linkText(content.uri) }
    const url = new URL(content.uri)
    const { data, mediaType } = await unlessAborted(
      signal,
      Promise.resolve(download(url, { signal })),
    )
    const { type: _link, uri: _uri, ...rest } = content
    return { ...rest, type: 'data', data, mediaType: mediaType ?? mediaTypeOf(content) }
  }
  return Promise.all(
    messages.map(async (message) => {
      if (!message.contents.some(isLink)) return message
      return { ...message, contents: await Promise.all(message.contents.map(reach)) }
    }),
  )
}

function isLink(content: Content): content is UriContent {
  return content.type === 'uri' && sourceOf(content, '').kind === 'url'
}

function isSupported(
  content: UriContent,
  supported: Readonly<Record<string, readonly RegExp[]>>,
): boolean {
  const url = content.uri.toLowerCase()
  const mediaType = mediaTypeOf(content).toLowerCase()
  return Object.entries(supported ?? {}).some(([key, patterns]) => {
    const prefix = key === '*' ? '' : key.toLowerCase().replace(/\*(\/\*)?$/, '')
    // A pattern with the flag `g` begins where its last search ended.
    return mediaType.startsWith(prefix) && patterns.some((pattern) => url.search(pattern) !== -1)
  })
}
