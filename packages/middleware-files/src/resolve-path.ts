import { lstat, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute as isOwnAbsolute, join, resolve } from 'node:path'
import { isAbsolutePath } from '@lamella/text'
import type { Dialect, PathFault } from './path-escape.ts'
import { pathFault } from './path-escape.ts'

/** File system calls that resolving a path needs. */
export interface FileSystem {
  /** Resolves to the path without symbolic links. Rejects with `code: 'ENOENT'` if nothing is there. */
  realpath(path: string): Promise<string>
  /** Resolves if a file, a folder or a link is there, also a link without a target. Otherwise rejects. */
  lstat(path: string): Promise<unknown>
  /** Resolves to facts about a file or a folder. Rejects if nothing is there. */
  stat(path: string): Promise<{
    /** Size in bytes. */
    readonly size: number
    /** Returns true for a regular file. */
    isFile(): boolean
    /** Returns true for a folder. */
    isDirectory(): boolean
  }>
}

/** Reason for refusing a path. */
export type PathViolation =
  | PathFault
  | 'outside-roots'
  | 'symlink'
  | 'extension'
  | 'missing'
  | 'not-a-file'
  | 'too-large'
  | 'unreadable'

/** Rules for paths. */
export interface PathRules {
  readonly roots: readonly string[]
  readonly dialects: readonly Dialect[]
  readonly decode: number
  readonly extensions: readonly string[] | undefined
  readonly maxBytes: number
  readonly symlinks: 'resolve' | 'refuse'
  readonly fileSystem: FileSystem
}

/** An allowed path, or the reason for refusing it. */
export type ResolvedPath =
  | { readonly path: string; readonly violation?: undefined }
  | { readonly violation: PathViolation }

/**
 * Checks a path by its spelling and by its target. A path that does not exist yet is checked by the
 * nearest folder that does.
 */
export async function resolvePath(
  given: string,
  mustExist: boolean,
  rules: PathRules,
): Promise<ResolvedPath> {
  const { dialects, extensions, fileSystem, maxBytes, roots, symlinks } = rules
  const fault = pathFault(given, dialects, rules.decode)
  if (fault !== undefined) return { violation: fault }
  // Absolute on another system: here it would be an odd relative name.
  if (isAbsolutePath(given, dialects) && !isOwnAbsolute(given)) return { violation: 'escape' }
  const path = isOwnAbsolute(given) ? resolve(given) : join(roots[0]!, given)
  if (!roots.some((root) => isInside(path, resolve(root)))) return { violation: 'outside-roots' }
  if (extensions !== undefined && !extensions.includes(extensionOf(path))) {
    return { violation: 'extension' }
  }

  const real = await realPath(path, fileSystem)
  if (real.leadsNowhere) return { violation: 'symlink' }
  const realRoots = await Promise.all(roots.map((root) => realPath(resolve(root), fileSystem)))
  if (!realRoots.some((root) => isInside(real.path, root.path))) return { violation: 'symlink' }
  if (
    symlinks === 'refuse' &&
    !realRoots.some((root, at) => isSame(real.path, path, root.path, resolve(roots[at]!)))
  ) {
    return { violation: 'symlink' }
  }
  if (!real.exists) return mustExist ? { violation: 'missing' } : { path: real.path }
  // The target of a link may have another extension than the link.
  if (extensions !== undefined && !extensions.includes(extensionOf(real.path))) {
    return { violation: 'extension' }
  }
  const found = await fileSystem.stat(real.path)
  if (found.isFile() && found.size > maxBytes) return { violation: 'too-large' }
  if (!found.isFile() && !found.isDirectory()) return { violation: 'not-a-file' }
  return { path: real.path }
}

/** The local disk. */
export const nodeFileSystem: FileSystem = {
  realpath: (path) => realpath(path),
  lstat: (path) => lstat(path),
  stat: (path) => stat(path),
}

/** Resolves symbolic links in the part of a path that exists. */
async function realPath(
  path: string,
  fileSystem: FileSystem,
): Promise<{ readonly path: string; readonly exists: boolean; readonly leadsNowhere: boolean }> {
  try {
    return { path: await fileSystem.realpath(path), exists: true, leadsNowhere: false }
  } catch (error) {
    const parent = dirname(path)
    if (!isNothing(error) || parent === path) throw error
    // Writing to such a link creates its target, wherever that is.
    const isLink = await fileSystem.lstat(path).then(
      () => true,
      (fault: unknown) => {
        if (!isNothing(fault)) throw fault
        return false
      },
    )
    const folder = await realPath(parent, fileSystem)
    const leadsNowhere = isLink || folder.leadsNowhere
    return { path: join(folder.path, basename(path)), exists: false, leadsNowhere }
  }
}

function isNothing(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === 'ENOENT' || code === 'ENOTDIR'
}

function isInside(path: string, root: string): boolean {
  const folder = root.endsWith('/') || root.endsWith('\\') ? root : `${root}/`
  return path === root || `${path.replaceAll('\\', '/')}/`.startsWith(folder.replaceAll('\\', '/'))
}

/** Returns true if no part of the path behind the root is a link. */
function isSame(real: string, path: string, realRoot: string, root: string): boolean {
  return real.slice(realRoot.length) === path.slice(root.length)
}

function extensionOf(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
  const at = name.lastIndexOf('.')
  return at > 0 ? name.slice(at).toLowerCase() : ''
}
