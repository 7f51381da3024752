import type { AgentContext, DataContent, FunctionInvocationContext, Tool } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { FileViolation } from './file-contents.ts'
import type { Dialect } from './path-escape.ts'
import type { FileSystem, PathViolation } from './resolve-path.ts'

/** Report of a refusal. Contains no path, file name or content. */
export interface FileEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** A path in the arguments of a tool, or a file in a message. */
  readonly kind: 'path' | 'file'
  /** Reason of the refusal. */
  readonly violation: PathViolation | FileViolation | 'unreadable'
  /** Action of the middleware; `shadow` if it only reports. */
  readonly action: 'refuse' | 'block' | 'drop' | 'placeholder' | 'shadow'
  /** Name of the tool. Undefined for files in the input. */
  readonly tool?: string | undefined
  /** Place in the arguments, such as `files.0.path`. Undefined for files. */
  readonly argument?: string | undefined
}

/** Paths in the arguments of tools. */
export interface PathOptions {
  /** Absolute folders that contain every allowed path. A relative path starts at the first one. */
  readonly roots: readonly string[]
  /**
   * Keys of arguments that hold paths, at any depth.
   * @default keys that contain file, path, dir or folder, except words such as profile and direction
   */
  readonly keys?: RegExp | readonly string[] | ((key: string, tool: Tool) => boolean) | undefined
  /**
   * Path syntaxes. A path must be harmless in each of them.
   * @default ['posix', 'win32']
   */
  readonly dialects?: readonly Dialect[] | undefined
  /**
   * Number of percent-decoding rounds after which a path must still be harmless.
   * @default 2
   */
  readonly decode?: number | undefined
  /** Allowed extensions in lower case, such as `.md`. @default any */
  readonly extensions?: readonly string[] | undefined
  /**
   * Requires that the path exists.
   * @default true for tools that are `readOnly`
   */
  readonly mustExist?: boolean | ((tool: Tool) => boolean) | undefined
  /** Maximum size of an existing file in bytes. @default 104857600, 100 MiB */
  readonly maxBytes?: number | undefined
  /**
   * Resolves symbolic links and checks their target, or refuses them.
   * @default 'resolve'
   */
  readonly symlinks?: 'resolve' | 'refuse' | undefined
  /**
   * Passes the checked path to the tool, absolute and without links, instead of the path that the model
   * wrote.
   * @default true
   */
  readonly rewrite?: boolean | undefined
  /**
   * Tells the model that the path was refused, or ends the run as blocked.
   * @default 'refuse'
   */
  readonly onViolation?: 'refuse' | 'block' | undefined
  /** File system that resolves paths. @default the local disk */
  readonly fileSystem?: FileSystem | undefined
}

/** Rules for files in the input of a run and in results of tools. */
export interface ContentOptions {
  /** Allowed media types; `image/*` matches every image. @default images, PDF, text, JSON */
  readonly allow?: readonly string[] | undefined
  /** Refused media types, also if `allow` matches. @default SVG, HTML: they can carry scripts */
  readonly deny?: readonly string[] | undefined
  /** Requires that the bytes match the declared type. @default true */
  readonly sniff?: boolean | undefined
  /** Maximum size of a file in bytes. @default 20971520, 20 MiB */
  readonly maxBytes?: number | undefined
  /** Maximum number of files in one input or result. @default 10 */
  readonly maxFiles?: number | undefined
  /** Maximum size of all files in one input or result, in bytes. @default 52428800, 50 MiB */
  readonly maxTotalBytes?: number | undefined
  /** Maximum width by height of an image, in pixels. @default 40000000 */
  readonly maxPixels?: number | undefined
  /** Maximum length of a file name in UTF-16 units. @default 255 */
  readonly maxNameChars?: number | undefined
  /** Allowed schemes of `uri` contents. @default ['https:'] */
  readonly schemes?: readonly string[] | undefined
  /** Allowed hosts of `uri` contents; `*.example.com` matches every subdomain. @default all public hosts */
  readonly hosts?: readonly string[] | undefined
  /** Returns true for a file that may pass; a place for an antivirus program. @default none */
  readonly scan?:
    | ((file: DataContent, signal: AbortSignal) => boolean | Promise<boolean>)
    | undefined
  /**
   * Ends the run as blocked, removes the file, or replaces it with a sentence.
   * @default 'block'
   */
  readonly onViolation?: 'block' | 'drop' | 'placeholder' | undefined
}

/** Options of {@link fileValidator}. At least one of `paths` and `contents` is required. */
export interface FileValidatorOptions
  extends MiddlewareOptions<AgentContext | FunctionInvocationContext, FileEvent> {
  /** Rules for paths in the arguments of tools. @default paths are not checked */
  readonly paths?: PathOptions | undefined
  /** Rules for files in messages; `true` for all defaults. @default files are not checked */
  readonly contents?: ContentOptions | true | undefined
}

const owner = 'fileValidator'

/** @throws TypeError or RangeError that names the option and the value */
export function checkFileOptions(options: FileValidatorOptions): void {
  const { paths, contents } = options ?? {}
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
