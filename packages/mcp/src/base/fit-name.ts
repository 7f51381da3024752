import { sha256 } from '@lamella/core/authoring'

/** Providers take 64 letters, digits, `_` and `-`, of which the first is a letter or `_`. */
const fits = /^[A-Za-z_][\w-]{0,63}$/

/**
 * Fits a tool's name to what providers accept. A name that has to change ends with a hash of the original, so
 * that two tools do not come to one name, and a tool has the same one in every list.
 */
export async function fitName(prefix: string, server: string, name: string): Promise<string> {
  const wished = prefix + name
  if (fits.test(wished)) return wished
  const hash = (await sha256(JSON.stringify([server, name]))).slice(0, 8)
  const plain = wished.slice(0, 55).replaceAll(/[^\w-]/g, '_')
  return `${/^[A-Za-z_]/.test(plain) ? '' : '_'}${plain}`.slice(0, 55) + `_${hash}`
}
