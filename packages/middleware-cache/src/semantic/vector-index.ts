import { checkOptions } from '@lamella/core/authoring'

/** An answered question that was found. */
export interface VectorMatch {
  /** Key of its entry. */
  readonly key: string
  /** Similarity from -1 to 1; 1 for the same direction. */
  readonly similarity: number
}

/** Index of questions for a semantic cache: in this process, or any vector database. */
export interface VectorIndex {
  /** Adds or replaces a question. The index may drop it after `ttlMs` milliseconds. */
  add(
    partition: string,
    entry: { readonly key: string; readonly vector: readonly number[]; readonly ttlMs: number },
  ): Promise<void>
  /** Returns the most similar questions of the partition, the best first. */
  search(
    partition: string,
    vector: readonly number[],
    options: { readonly limit: number; readonly signal: AbortSignal },
  ): Promise<readonly VectorMatch[]>
}

/** Options of `memoryVectorIndex`. */
export interface MemoryVectorIndexOptions {
  /**
   * Maximum number of questions. Above it, the oldest is dropped.
   * @default 1000
   */
  readonly maxEntries?: number | undefined
}

/**
 * Keeps questions in this process and compares with each of the partition: suits some thousands of them.
 * @throws RangeError if `maxEntries` is not a whole number from 1 up
 */
export function memoryVectorIndex(options: MemoryVectorIndexOptions = {}): VectorIndex {
  checkOptions('memoryVectorIndex', options, { maxEntries: 1 })
  const { maxEntries = 1000 } = options
  const partitions = new Map<string, Map<string, readonly number[]>>()
  // By key, the oldest first.
  const owners = new Map<string, string>()

  const remove = (key: string): void => {
    const owner = owners.get(key)
    if (owner === undefined) return
    owners.delete(key)
    const partition = partitions.get(owner)
    partition?.delete(key)
    if (partition?.size === 0) partitions.delete(owner)
  }

  return {
    async add(partition, { key, vector }) {
      remove(key)
      owners.set(key, partition)
      const questions = partitions.get(partition) ?? new Map<string, readonly number[]>()
      partitions.set(partition, questions.set(key, unit(vector)))
      if (owners.size > maxEntries) remove(owners.keys().next().value!)
    },
    async search(partition, vector, { limit }) {
      const asked = unit(vector)
      return [...(partitions.get(partition) ?? [])]
        .map(([key, known]) => ({ key, similarity: product(asked, known) }))
        .toSorted((a, b) => b.similarity - a.similarity)
        .slice(0, limit)
    },
  }
}

/** Returns the cosine of the angle between two vectors; 0 for vectors of different length. */
export function similarity(one: readonly number[], other: readonly number[]): number {
  return product(unit(one), unit(other))
}

function unit(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector) || 1
  return vector.map((value) => value / length)
}

function product(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) return 0
  return a.reduce((sum, value, at) => sum + value * b[at]!, 0)
}
