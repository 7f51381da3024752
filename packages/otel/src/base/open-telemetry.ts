import type * as OpenTelemetryApi from '@opentelemetry/api'

export type OpenTelemetry = typeof OpenTelemetryApi

let loaded: OpenTelemetry | 'missing' | undefined
let loading: Promise<OpenTelemetry | undefined> | undefined

/**
 * OpenTelemetry's API, or nothing where it is not installed. Only the first call ever has to wait: a
 * static import would make the package fail without it, and one awaited at the top could not be
 * `require`d.
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
