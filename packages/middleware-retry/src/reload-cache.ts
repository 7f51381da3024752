import type { ChatOptions } from '@lamella/core'

/** Keeps a cache further in from giving the same reply once more. It reads this from the options of a call. */
export function reloadCache(options: ChatOptions): ChatOptions {
  const { cache } = options as { readonly cache?: string | { readonly mode?: string } | undefined }
  const control = typeof cache === 'object' ? cache : { mode: cache }
  if (control.mode === 'no-store') return options
  const reloading: ChatOptions & { readonly cache: object } = {
    ...options,
    cache: { ...control, mode: 'reload' },
  }
  return reloading
}
