/** The name that has at least half of its pairs of neighbouring letters in common with this one. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const own = pairsOf(name)
  const ranked = names
    .map((other) => {
      const pairs = pairsOf(other)
      const shared = own.filter((pair) => pairs.includes(pair))
      return { other, likeness: (2 * shared.length) / (own.length + pairs.length) }
    })
    .toSorted((a, b) => b.likeness - a.likeness)
  return ranked.find(({ likeness }) => likeness >= 0.5)?.other
}

/** The start and the end of the name count as letters. */
function pairsOf(name: string): readonly string[] {
  const letters = `^${name.toLowerCase()}$`
  return Array.from(letters.slice(1), (letter, at) => letters[at] + letter)
}
