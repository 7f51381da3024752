export type Wire = Readonly<Record<string, unknown>>

/** An object of unknown fields. What is none has none. */
export function wire(value: unknown): Wire {
  return typeof value === 'object' && value !== null ? (value as Wire) : {}
}

export function wires(value: unknown): readonly Wire[] {
  return Array.isArray(value) ? value.map(wire) : []
}

/** Collects violations of the rules of an API, a line each. */
export class Problems {
  readonly found: string[] = []

  unless(holds: boolean, problem: string): void {
    if (!holds) this.found.push(problem)
  }

  /** The object has the fields that end in `!`, and none besides these. */
  fields(place: string, value: Wire, known: string): void {
    const names = known.split(' ')
    const required = names.filter((name) => name.endsWith('!')).map((name) => name.slice(0, -1))
    const all = new Set(names.map((name) => name.replace('!', '')))
    for (const name of required) this.unless(name in value, `${place}: ${name} is missing`)
    for (const name of Object.keys(value)) {
      this.unless(all.has(name), `${place}: unknown field ${name}`)
    }
  }

  text(place: string, value: unknown): void {
    this.unless(typeof value === 'string' && value !== '', `${place}: no text, or an empty one`)
  }

  /** Requires more than white space. */
  visibleText(place: string, value: unknown): void {
    this.unless(/\S/.test(typeof value === 'string' ? value : ''), `${place}: nothing to be read`)
  }

  name(place: string, value: unknown, longest: number): void {
    const isName = typeof value === 'string' && /^[\w-]+$/.test(value) && value.length <= longest
    this.unless(isName, `${place}: ${String(value)} is no legal name`)
  }

  jsonObject(place: string, value: unknown): void {
    this.unless(isJsonObject(value), `${place}: no JSON object`)
  }

  /** The schema of a tool's arguments. */
  schema(place: string, value: unknown): void {
    const { type, properties } = wire(value)
    const isObject = type === 'object' && typeof properties === 'object'
    this.unless(isObject, `${place}: no schema of an object with properties`)
  }

  image(place: string, url: unknown): void {
    const isImage =
      typeof url === 'string' &&
      /^(https?:\/\/|data:image\/(png|jpeg|gif|webp);base64,\w)/.test(url)
    this.unless(isImage, `${place}: no address of an image`)
  }
}

function isJsonObject(value: unknown): boolean {
  try {
    const parsed: unknown = JSON.parse(String(value))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
  } catch {
    return false
  }
}

/** Calls that wait for their results, and the ids that were there before. */
export class OpenCalls {
  readonly #problems: Problems
  readonly #longestId: number
  readonly #idPattern: RegExp
  readonly #used = new Set<string>()
  readonly #open = new Set<string>()
  #isAnswered = false

  constructor(problems: Problems, longestId: number, idPattern = /^/) {
    this.#problems = problems
    this.#longestId = longestId
    this.#idPattern = idPattern
  }

  call(place: string, id: unknown): void {
    const text = typeof id === 'string' ? id : ''
    const isLegal = text !== '' && text.length <= this.#longestId && this.#idPattern.test(text)
    this.#problems.unless(isLegal, `${place}: ${text} is no legal id of a call`)
    this.#problems.unless(!this.#used.has(text), `${place}: a second call has the id ${text}`)
    this.#problems.unless(!this.#isAnswered, `${place}: a call among the results of others`)
    this.#used.add(text)
    this.#open.add(text)
  }

  result(place: string, id: unknown): void {
    const isOpen = this.#open.delete(String(id))
    this.#problems.unless(isOpen, `${place}: the result ${String(id)} answers no call before it`)
    this.#isAnswered = this.#open.size > 0
  }

  /** Whatever is no result comes only where no call waits for one. */
  other(place: string): void {
    this.#problems.unless(
      this.#open.size === 0,
      `${place}: stands where the results of ${[...this.#open].join(', ')} belong`,
    )
    this.#open.clear()
    this.#isAnswered = false
  }
}
