/** As JSON, bytes in base64; what JSON cannot hold is named by its type. */
export function plainJson(value: unknown): unknown {
  try {
    const json = JSON.stringify(
      value,
      function (this: Record<string, unknown>, key, item: unknown) {
        const given = this[key]
        if (given instanceof Uint8Array) return Buffer.from(given).toString('base64')
        return typeof item === 'bigint' ? String(item) : item
      },
    )
    return JSON.parse(json ?? 'null') as unknown
  } catch {
    return `[${typeof value}]`
  }
}
