/**
 * Gives every call of a history an id that Mistral takes: 9 letters and digits. Its package sends ids as they
 * are. https://docs.mistral.ai/capabilities/function_calling, 2026-11.
 */
export class MistralCallIds {
  readonly #taken = new Set<string>()

  /** The id to use. One that Mistral takes stays, as long as it is the first of its kind. */
  legal(id: string): string {
    let legal = /^[a-zA-Z0-9]{9}$/.test(id) ? id : shortened(id)
    for (let count = 2; this.#taken.has(legal); count++) legal = shortened(`${id} ${count}`)
    this.#taken.add(legal)
    return legal
  }
}

/** The same nine characters for the same id, in every request. */
function shortened(id: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193)
  return (hash >>> 0).toString(36).padStart(9, '0')
}
