export function median(values) {
  return quantile(values, 0.5)
}

export function quantile(values, share) {
  const sorted = values.toSorted((left, right) => left - right)
  const position = (sorted.length - 1) * share
  const below = sorted[Math.floor(position)]
  return below + (sorted[Math.ceil(position)] - below) * (position - Math.floor(position))
}

/** The median of ratios that were each taken inside one round. */
export function pairedRatio(values, bases) {
  return median(values.map((value, round) => value / bases[round]))
}

export function shuffled(values) {
  const list = [...values]
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[list[last], list[other]] = [list[other], list[last]]
  }
  return list
}
