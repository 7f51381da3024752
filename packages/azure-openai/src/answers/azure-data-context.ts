import type { Annotation } from '@lamella/core/authoring'
import { isObject } from '@lamella/core/authoring'

/** A document that the model received, in Azure's format. */
export interface AzureCitation {
  /** Text of the document. */
  readonly content: string
  /** Title of the document. */
  readonly title?: string | null
  /** Address of the document. */
  readonly url?: string | null
  /** Name of the file. */
  readonly filepath?: string | null
  /** Id of the part of the document. */
  readonly chunk_id?: string | null
  /** Score of the ranking. */
  readonly rerank_score?: number
}

/** Documents found in the data sources, in `response.metadata.dataContext`. */
export interface AzureDataContext {
  /** `[doc1]` in the answer is the first of them. */
  readonly citations?: readonly AzureCitation[]
  /** The search queries, as JSON. */
  readonly intent?: string
  /** All documents found, if requested. */
  readonly all_retrieved_documents?: readonly unknown[]
}

/** Gathers what one answer says of its data sources. */
export class DataContextFold {
  #context: Readonly<Record<string, unknown>> | undefined
  #count = 0

  /** Returns the context so far, or nothing if this message adds nothing. */
  add(message: unknown): AzureDataContext | undefined {
    const context = isObject(message) ? message['context'] : undefined
    if (!isObject(context)) return undefined
    const was = this.#context ?? {}
    const lists = Object.entries(context).map(([field, value]) => {
      const old = was[field]
      return [field, Array.isArray(old) && Array.isArray(value) ? [...old, ...value] : value]
    })
    this.#context = { ...was, ...Object.fromEntries(lists) }
    return this.#context
  }

  /** The citations of a message, without the documents' text. */
  annotations(message: Readonly<Record<string, unknown>>): readonly Annotation[] {
    const context = message['context']
    const citations = isObject(context) ? context['citations'] : undefined
    return Array.isArray(citations) ? citations.map((citation) => this.#annotation(citation)) : []
  }

  #annotation(value: unknown): Annotation {
    const { url, title, filepath, chunk_id: chunkId } = isObject(value) ? value : {}
    const name = textOf(title) ?? textOf(filepath)
    return {
      type: 'citation',
      ...(textOf(url) !== undefined && { uri: textOf(url) }),
      ...(name !== undefined && { title: name }),
      metadata: {
        reference: `[doc${++this.#count}]`,
        ...(textOf(filepath) !== undefined && { filepath }),
        ...(textOf(chunkId) !== undefined && { chunkId }),
      },
    }
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
