/** Range of an answer that makes a browser fetch something. Offsets are in UTF-16 units. */
export interface FoundImage {
  readonly start: number
  readonly end: number
  /** Fetched addresses; undefined if they are unknown. */
  readonly addresses: readonly string[] | undefined
}

/** Images of a text, and the index from which more text may become another one. */
export interface FoundImages {
  readonly images: readonly FoundImage[]
  readonly pending: number
}

/** Length of the longest image and tag. Of a longer one, the opening is found, which is enough to break it. */
export const maxChars = 4096
