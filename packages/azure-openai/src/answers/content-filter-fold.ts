import type { AzureContentFilter } from './azure-content-filter.ts'
import { firstChoice } from './first-choice.ts'
import { isObject } from '@lamella/core/authoring'

type Fields = Readonly<Record<string, unknown>>

const severities: readonly unknown[] = ['safe', 'very_low', 'low', 'medium', 'high']
const flags = ['filtered', 'detected']

/**
 * Gathers the verdicts of one call: a stream tells them piece by piece, several prompts and images
 * each have their own. Of two on one category, the worse holds.
 */
export class ContentFilterFold {
  #prompt: Fields | undefined
  #completion: Fields | undefined
  #isBlocked = false

  /** Takes in what a completion, a chunk or a response says. Returns whether anything is new. */
  add(payload: Fields): boolean {
    const before = [this.#prompt, this.#completion, this.#isBlocked]
    const { prompt_filter_results: prompts, prompt_annotations: older } = payload
    for (const prompt of listOf(prompts ?? older)) this.addPrompt(resultsOf(prompt))
    this.#completion = worst(this.#completion, resultsOf(firstChoice(payload)))
    this.#addList(payload['content_filters'])
    const after = [this.#prompt, this.#completion, this.#isBlocked]
    return after.some((value, at) => value !== before[at])
  }

  /** Takes in what an error carries: the results of the prompt, or a list as responses have it. */
  addReport(report: unknown): void {
    this.#isBlocked = true
    if (Array.isArray(report)) this.#addList(report)
    else this.addPrompt(report)
  }

  addPrompt(results: unknown): void {
    this.#prompt = worst(this.#prompt, results)
  }

  /** Takes in a verdict that was already made. */
  addVerdict({ filtered, prompt, completion }: AzureContentFilter): void {
    this.#isBlocked ||= filtered
    this.addPrompt(prompt)
    this.#completion = worst(this.#completion, completion)
  }

  verdict(): AzureContentFilter {
    return {
      filtered: this.#isBlocked || isFiltered(this.#prompt) || isFiltered(this.#completion),
      ...(this.#prompt && { prompt: this.#prompt }),
      ...(this.#completion && { completion: this.#completion }),
    }
  }

  #addList(list: unknown): void {
    for (const entry of listOf(list)) {
      if (!isObject(entry)) continue
      const results = resultsOf(entry)
      if (entry['source_type'] === 'prompt') this.addPrompt(results)
      else this.#completion = worst(this.#completion, results)
      if (entry['blocked'] === true) this.#isBlocked = true
    }
  }
}

function resultsOf(value: unknown): unknown {
  return isObject(value) ? (value['content_filter_results'] ?? value['content_filter_result']) : {}
}

/** The same object where `next` tells nothing new or worse. */
function worst(known: Fields | undefined, next: unknown): Fields | undefined {
  let results = known
  for (const [name, value] of Object.entries(isObject(next) ? next : {})) {
    // Old versions write `self-harm`.
    const category = name.replaceAll('-', '_')
    const verdict = verdictOf(value)
    if (verdict === undefined) continue
    const was = results?.[category]
    const now = isObject(was) ? worse(was, verdict) : verdict
    if (now !== was) results = { ...results, [category]: now }
  }
  return results
}

/** Brings the older shapes of a verdict to the present one. */
function verdictOf(value: unknown): Fields | undefined {
  // Blocklists were a list of their matches once.
  if (Array.isArray(value)) {
    return { filtered: value.some((match) => isObject(match) && match['filtered']), details: value }
  }
  if (!isObject(value)) return undefined
  const { URL, license, ...verdict } = value
  if (URL === undefined && license === undefined) return value
  return {
    ...verdict,
    citation: { ...(URL !== undefined && { URL }), ...(license !== undefined && { license }) },
  }
}

function worse(was: Fields, next: Fields): Fields {
  const changes: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(next)) {
    const old = was[field]
    const isWorse = flags.includes(field)
      ? value === true && old !== true
      : field === 'severity'
        ? severities.indexOf(value) > severities.indexOf(old)
        : old === undefined
    if (isWorse) changes[field] = value
    else if (field === 'details') {
      const matches = listOf(old)
      const added = listOf(value).filter((match) => !matches.some((known) => isSame(known, match)))
      if (added.length > 0) changes[field] = [...matches, ...added]
    }
  }
  return Object.keys(changes).length > 0 ? { ...was, ...changes } : was
}

function isSame(one: unknown, other: unknown): boolean {
  return isObject(one) && isObject(other) && one['id'] === other['id']
}

function isFiltered(results: Fields | undefined): boolean {
  return Object.values(results ?? {}).some((each) => isObject(each) && each['filtered'] === true)
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
