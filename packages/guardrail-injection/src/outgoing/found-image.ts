/** Place of an answer that has a browser fetch something. Offsets in UTF-16 units. */
export interface FoundImage {
  readonly start: number
  readonly end: number
  /** Addresses that are fetched, or nothing where they cannot be told. */
  readonly addresses: readonly string[] | undefined
}

/** Images of a text, and the index from which on it may still become another. */
export interface FoundImages {
  readonly images: readonly FoundImage[]
  readonly pending: number
}

/** Length of the longest image and tag. Of a longer one, the opening is found, which is enough to break it. */
export const maxChars = 4096
