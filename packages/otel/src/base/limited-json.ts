/**
 * Returns the JSON of a value within a limit of bytes: long texts are cut, then the first entries
 * are omitted.
 */
export function limitedJson(value: unknown, maxBytes: number): string {
  for (let longest = maxBytes; longest > 8; longest = Math.floor(longest / 2)) {
    const json = JSON.stringify(value, (_, item: unknown) =>
      typeof item === 'string' && item.length > longest ? `${item.slice(0, longest)}…` : item,
    )
    if (new TextEncoder().encode(json).length <= maxBytes) return json
  }
  if (!Array.isArray(value) || value.length < 2) return '"…"'
  return limitedJson(value.slice(Math.ceil(value.length / 2)), maxBytes)
}
