/** A moment that a test waits for. */
export function moment(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: resolve! }
}
