import { LamellaError } from '@lamella/core'

/** Imports a module by its specifier. */
export type Load = (specifier: string) => Promise<unknown>

/**
 * Imports an entry of a package.
 * @throws LamellaError `client_not_installed`, which says what to install
 */
export async function loadPackage(
  load: Load,
  specifier: string,
  name: string,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await load(specifier)) as Readonly<Record<string, unknown>>
  } catch (cause) {
    const [packageName = specifier] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? []
    if (!isMissing(cause, packageName)) throw cause
    throw new LamellaError(
      `clientFor: "${name}" needs ${packageName}, which is not installed; run: npm install ${packageName}`,
      { code: 'client_not_installed', cause },
    )
  }
}

/** A package that is there but lacks one of its own is broken, which its own error says. */
function isMissing(error: unknown, packageName: string): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
  const isNotFound = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND'
  const quoted = [`'${packageName}'`, `"${packageName}"`, `'${packageName}/`, `"${packageName}/`]
  return isNotFound && quoted.some((each) => String(message).includes(each))
}
