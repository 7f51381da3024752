import type * as OpenTelemetryApi from '@opentelemetry/api'

export type OpenTelemetry = typeof OpenTelemetryApi

let loaded: OpenTelemetry | 'missing' | undefined
let loading: Promise<OpenTelemetry | undefined> | undefined

/**
 * OpenTelemetry's API; undefined if it is not installed. Only the first call waits: a static import
 * would fail without the package, and a top-level await could not be loaded by `require`.
 */
export function openTelemetry(): OpenTelemetry | undefined | Promise<OpenTelemetry | undefined> {
  if (loaded !== undefined) return loaded === 'missing' ? undefined : loaded
  return (loading ??= import('@opentelemetry/api').then(
    (api) => (loaded = api),
    () => {
      loaded = 'missing'
      return undefined
    },
  ))
}
