/** Three significant digits. */
export function number(value) {
  const rounded = Number(value.toPrecision(3))
  return Math.abs(rounded) >= 1000 ? rounded.toLocaleString('en-US') : String(rounded)
}

export function duration(nanoseconds) {
  if (nanoseconds < 1e3) return `${number(nanoseconds)} ns`
  if (nanoseconds < 1e6) return `${number(nanoseconds / 1e3)} µs`
  return `${number(nanoseconds / 1e6)} ms`
}

export function mebibytes(bytes) {
  return `${number(bytes / 2 ** 20)} MiB`
}

/** A Markdown table. */
export function table(head, rows) {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
