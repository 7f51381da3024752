/** The time of a response, which OpenAI tells in seconds and some servers in milliseconds. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value !== 'number' || !(value > 0)) return undefined
  const date = new Date(value > 1e11 ? value : value * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}
