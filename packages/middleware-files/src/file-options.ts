import type { AgentContext, DataContent, FunctionInvocationContext, Tool } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { FileViolation } from './file-contents.ts'
import type { Dialect } from './path-escape.ts'
import type { FileSystem, PathViolation } from './resolve-path.ts'

/** What the middleware tells of a refusal: never a path, a name or a byte. */
export interface FileEvent {
  readonly middleware: string
  readonly kind: 'path' | 'file'
  readonly violation: PathViolation | FileViolation | 'unreadable'
  readonly action: 'refuse' | 'block' | 'drop' | 'placeholder' | 'shadow'
  readonly tool?: string | undefined
  /** Where in the arguments, such as `files.0.path`. */
  readonly argument?: string | undefined
}

/** Paths in the arguments of tools. */
export interface PathOptions {
  /** Folders that paths must lie in, absolute. A relative path is read from the first one. */
  readonly roots: readonly string[]
  /**
   * Which keys hold paths, at any depth.
   * @default those that contain file, path, dir or folder, but not profile, direction and the like
   */
  readonly keys?: RegExp | readonly string[] | ((key: string, tool: Tool) => boolean) | undefined
  /**
   * How paths are read. A path must be harmless in each.
   * @default ['posix', 'win32']
   */
  readonly dialects?: readonly Dialect[] | undefined
  /**
   * Rounds of percent-decoding after which a path must still be harmless.
   * @default 2
   */
  readonly decode?: number | undefined
  /** Such as `.md`, in small letters. @default any */
  readonly extensions?: readonly string[] | undefined
  /**
   * Whether what a path names must exist.
   * @default for tools that are `readOnly`
   */
  readonly mustExist?: boolean | ((tool: Tool) => boolean) | undefined
  /** Of a file that exists. @default 104857600, 100 MiB */
  readonly maxBytes?: number | undefined
  /**
   * Links are followed, and what they lead to is judged; or refused.
   * @default 'resolve'
   */
  readonly symlinks?: 'resolve' | 'refuse' | undefined
  /**
   * Whether the tool gets the path that was judged, absolute and without links, in place of the one that
   * the model wrote.
   * @default true
   */
  readonly rewrite?: boolean | undefined
  /**
   * The model reads that the path was refused, or the run ends as blocked.
   * @default 'refuse'
   */
  readonly onViolation?: 'refuse' | 'block' | undefined
  /** @default the disk of this machine */
  readonly fileSystem?: FileSystem | undefined
}

/** Files in what goes to the model: in the input of a run, and in results of tools. */
export interface ContentOptions {
  /** Media types; `image/*` is all images. @default images, PDF, text, JSON */
  readonly allow?: readonly string[] | undefined
  /** Wins over `allow`. @default SVG, HTML: they can carry scripts */
  readonly deny?: readonly string[] | undefined
  /** Whether bytes must be what was declared. @default true */
  readonly sniff?: boolean | undefined
  /** @default 20971520, 20 MiB */
  readonly maxBytes?: number | undefined
  /** Of one input, or one result. @default 10 */
  readonly maxFiles?: number | undefined
  /** Of one input, or one result. @default 52428800, 50 MiB */
  readonly maxTotalBytes?: number | undefined
  /** Width by height of an image. @default 40000000 */
  readonly maxPixels?: number | undefined
  /** @default 255 */
  readonly maxNameChars?: number | undefined
  /** Of `uri` contents. @default ['https:'] */
  readonly schemes?: readonly string[] | undefined
  /** Of `uri` contents; `*.example.com` is all below it. @default all that are not private */
  readonly hosts?: readonly string[] | undefined
  /** Says whether a file may pass, such as a virus scanner. */
  readonly scan?:
    | ((file: DataContent, signal: AbortSignal) => boolean | Promise<boolean>)
    | undefined
  /**
   * The run ends as blocked, the file is left out, or a sentence stands in its place.
   * @default 'block'
   */
  readonly onViolation?: 'block' | 'drop' | 'placeholder' | undefined
}

/** Options of `fileValidator`. At least one of `paths` and `contents` must be there. */
export interface FileValidatorOptions
  extends MiddlewareOptions<AgentContext | FunctionInvocationContext, FileEvent> {
  readonly paths?: PathOptions | undefined
  /** `true` takes all defaults. */
  readonly contents?: ContentOptions | true | undefined
}

const owner = 'fileValidator'

/** @throws TypeError or RangeError that names the option and the value */
export function checkFileOptions(options: FileValidatorOptions): void {
  const { paths, contents } = options
  checkOptions(owner, options, {
    ...middlewareRules,
    paths: {
      roots: 'any',
      keys: 'any',
      dialects: 'any',
      decode: 0,
      extensions: 'any',
      mustExist: typeof paths?.mustExist === 'function' ? 'any' : [true, false],
      maxBytes: 0,
      symlinks: ['resolve', 'refuse'],
      rewrite: [true, false],
      onViolation: ['refuse', 'block'],
      fileSystem: 'any',
    },
    contents: {
      allow: 'any',
      deny: 'any',
      sniff: [true, false],
      maxBytes: 0,
      maxFiles: 0,
      maxTotalBytes: 0,
      maxPixels: 1,
      maxNameChars: 1,
      schemes: 'any',
      hosts: 'any',
      scan: 'function?',
      onViolation: ['block', 'drop', 'placeholder'],
    },
  })
  if (paths === undefined && contents === undefined) {
    throw wrongOption(owner, 'paths', 'given, or `contents`', undefined)
  }
  if (contents !== undefined && contents !== true && contents !== Object(contents)) {
    throw wrongOption(owner, 'contents', 'true or an object', contents)
  }
  if (contents !== undefined && contents !== true) {
    for (const name of ['allow', 'deny', 'schemes', 'hosts'] as const) {
      if (contents[name] !== undefined) checkTexts(`contents.${name}`, contents[name])
    }
  }
  if (paths !== undefined) checkPathOptions(paths)
}

function checkPathOptions(paths: PathOptions): void {
  const { roots, keys, fileSystem, extensions = [], dialects = ['posix'] } = paths
  const isRoot = (root: unknown): boolean =>
    typeof root === 'string' && /^(?:\/|[A-Za-z]:[/\\]|\\\\)/.test(root)
  if (!Array.isArray(roots) || roots.length === 0 || !roots.every(isRoot)) {
    throw wrongOption(owner, 'paths.roots', 'a list of absolute folders', roots)
  }
  const isKeys = keys instanceof RegExp || typeof keys === 'function'
  if (keys !== undefined && !isKeys) checkTexts('paths.keys', keys)
  for (const name of ['realpath', 'lstat', 'stat'] as const) {
    if (fileSystem !== undefined && typeof fileSystem[name] !== 'function') {
      throw wrongOption(owner, `paths.fileSystem.${name}`, 'a function', fileSystem[name])
    }
  }
  checkTexts('paths.extensions', extensions)
  if (!extensions.every((extension) => /^\.[^A-Z]+$/.test(extension))) {
    const wish = "a list such as ['.md'], in small letters"
    throw wrongOption(owner, 'paths.extensions', wish, extensions)
  }
  if (dialects.length === 0 || !dialects.every((name) => name === 'posix' || name === 'win32')) {
    throw wrongOption(owner, 'paths.dialects', "some of 'posix' and 'win32'", dialects)
  }
}

function checkTexts(option: string, list: unknown): void {
  if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'string')) {
    throw wrongOption(owner, option, 'a list of texts', list)
  }
}
