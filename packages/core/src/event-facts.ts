/**
 * The plain values in the data of an event, by path (`usage.inputTokens`), for logs and spans: numbers,
 * booleans, and text of up to 200 characters. What is longer or deeper is left out.
 */
export function eventFacts(data: unknown): Record<string, string | number | boolean> {
  const facts: Record<string, string | number | boolean> = {}
  collect(data, '', 2, facts)
  return facts
}

function collect(
  data: unknown,
  path: string,
  depth: number,
  facts: Record<string, string | number | boolean>,
): void {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return
  for (const [key, value] of Object.entries(data)) {
    if (key === '__proto__') continue
    const name = path + key
    if (typeof value === 'boolean') facts[name] = value
    else if (typeof value === 'number' && Number.isFinite(value)) facts[name] = value
    else if (typeof value === 'string' && value.length <= 200) facts[name] = value
    else if (depth > 1) collect(value, `${name}.`, depth - 1, facts)
  }
}
