import type { WireObject } from '@lamella/transport'
import { recordOf } from '@lamella/transport'

/** Metadata that is told in pieces: by provider, later ones hold. */
export function joinedMetadata(
  known: WireObject | undefined,
  news: unknown,
): WireObject | undefined {
  if (typeof news !== 'object' || news === null) return known
  if (known === undefined) return recordOf(news)
  const entries = Object.entries(news).map(([provider, value]) => [
    provider,
    { ...recordOf(known[provider]), ...recordOf(value) },
  ])
  return { ...known, ...Object.fromEntries(entries) }
}
