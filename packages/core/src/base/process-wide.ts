/**
 * Returns what all copies of core in this process share under a name. An application may load two copies, and
 * what one run has taken must be taken for a run of the other.
 */
export function processWide<Value>(name: string, make: () => Value): Value {
  const all = globalThis as { [place: symbol]: unknown }
  return (all[Symbol.for(`lamella.${name}`)] ??= make()) as Value
}
