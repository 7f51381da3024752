import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ToolError } from '@lamella/core'

export interface DocsFolderOptions {
  /** Decides by path if a file is a document. @default every text file that is not hidden */
  readonly includes?: ((path: string) => boolean) | undefined
  /** Size limit; larger files are skipped. @default 512 KiB */
  readonly maxFileBytes?: number | undefined
  /** @default 2000 */
  readonly maxFiles?: number | undefined
}

/** The documents of one folder. It reads nothing outside the folder, for any path. */
export class DocsFolder {
  readonly root: string
  readonly #includes: (path: string) => boolean
  readonly #maxFileBytes: number
  readonly #maxFiles: number

  private constructor(root: string, options: DocsFolderOptions) {
    this.root = root
    this.#includes = options.includes ?? (() => true)
    this.#maxFileBytes = options.maxFileBytes ?? 512 * 1024
    this.#maxFiles = options.maxFiles ?? 2000
  }

  /** @throws Error if the folder does not exist */
  static async open(path: string, options: DocsFolderOptions = {}): Promise<DocsFolder> {
    const root = await realpath(path).catch(() => undefined)
    if (root === undefined) throw new Error(`there is no folder ${path}`)
    if (!(await stat(root)).isDirectory()) throw new Error(`${path} is a file, not a folder`)
    return new DocsFolder(root, options)
  }

  /** Paths of the documents, relative to the folder, with `/` on every system. */
  async list(): Promise<readonly string[]> {
    const found: string[] = []
    const visit = async (folder: string): Promise<void> => {
      const entries = await readdir(join(this.root, folder), { withFileTypes: true })
      for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
        if (found.length >= this.#maxFiles || isHidden(entry.name)) continue
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (entry.isDirectory()) await visit(path).catch(() => {})
        else if (entry.isFile() && this.#includes(path) && !isBinaryName(path)) found.push(path)
      }
    }
    await visit('')
    return found
  }

  /**
   * The text of a document.
   * @throws ToolError that the model reads: outside the folder, missing, too large, or no text
   */
  async read(path: string): Promise<string> {
    const file = await this.#locate(path)
    const { size } = await stat(file)
    if (size > this.#maxFileBytes) {
      throw new ToolError(`${path} is too large: ${size} of ${this.#maxFileBytes} bytes`)
    }
    const bytes = await readFile(file)
    if (bytes.includes(0)) throw new ToolError(`${path} is not a text file`)
    return new TextDecoder().decode(bytes)
  }

  /** Returns true if a path is inside the folder after its links are resolved. */
  async contains(path: string): Promise<boolean> {
    const wanted = resolve(this.root, path)
    if (this.#nameOf(wanted) === undefined) return false
    const file = await realpath(wanted).catch(() => wanted)
    return this.#nameOf(file) !== undefined
  }

  async #locate(path: string): Promise<string> {
    if (!(await this.contains(path))) {
      throw new ToolError(`${path} is outside the folder`, { reason: 'denied' })
    }
    // Only the real path is used below: it has no links that could leave the folder.
    const file = await realpath(resolve(this.root, path)).catch(() => undefined)
    const name = file === undefined ? undefined : this.#nameOf(file)
    const isDocument =
      file !== undefined &&
      name !== undefined &&
      !name.split('/').some(isHidden) &&
      this.#includes(name) &&
      (await stat(file)).isFile()
    if (!isDocument) throw new ToolError(`there is no document ${path}`)
    return file
  }

  /** Path of a file relative to the folder; undefined for a file outside. */
  #nameOf(file: string): string | undefined {
    const name = relative(this.root, file)
    if (name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name)) return undefined
    return name.replaceAll(sep, '/')
  }
}

function isHidden(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

// Files that cannot be read are omitted from lists.
function isBinaryName(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|ico|svgz|pdf|zip|gz|tgz|br|woff2?|ttf|otf|mp[34]|mov|wasm|exe|bin|so|dylib|dll|class|jar|sqlite|db)$/iu.test(
    path,
  )
}
