import type { ChatClient, ChatContext, InferSchema, Schema, StandardIssue } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import { checkOptions, middlewareRules, wrongOption } from '@lamella/core/authoring'
import type { LocalRepair } from './read-answer.ts'

/** A way to make an answer fit: on the spot, or by asking the model again. */
export type RepairStep = LocalRepair | 're-ask'

/** What the middleware tells of an answer or of tool calls. No content is in it. */
export interface SchemaEvent {
  readonly middleware: string
  readonly of: 'answer' | 'arguments'
  readonly valid: boolean
  /** How it came to fit. */
  readonly by?: 'strict' | LocalRepair | undefined
  /** How many things were wrong with it. */
  readonly issues: number
  /** How often the model had been asked again by then. */
  readonly reasks: number
  /** What comes of it. */
  readonly action: 'none' | 'repaired' | 're-ask' | 'fallback' | 'throw'
}

export interface SchemaValidatorOptions<S extends Schema = Schema>
  extends MiddlewareOptions<ChatContext, SchemaEvent> {
  /**
   * What answers are to fit: any Standard Schema or a JSON Schema. The model is asked for it where the
   * call asks for no other.
   * @default that of the call's `responseFormat`; a call without one passes
   */
  readonly schema?: S | undefined
  /**
   * What is tried with an answer that does not fit, always in this order: `extract` finds JSON among
   * other words, `json-repair` mends broken JSON, `coerce` turns scalars into the type of the schema,
   * `re-ask` tells the model what is wrong.
   * @default ['extract', 'json-repair']
   */
  readonly repair?: readonly RepairStep[] | undefined
  /**
   * Model calls after the first one, with `re-ask`.
   * @default 1
   */
  readonly maxReasks?: number | undefined
  /**
   * What the model reads when it is asked again.
   * @default what is wrong and where, and the demand for JSON alone
   */
  readonly reaskMessage?: ((issues: readonly StandardIssue[]) => string) | undefined
  /** Asked again in place of the call's own client. @default the call's own */
  readonly reaskClient?: ChatClient | undefined
  /** Model that is asked again. @default the call's own */
  readonly reaskModel?: string | undefined
  /** Rules beyond the schema. What they return is treated as issues of the schema are. */
  readonly refine?:
    | ((
        value: InferSchema<S>,
      ) => readonly StandardIssue[] | undefined | Promise<readonly StandardIssue[] | undefined>)
    | undefined
  /**
   * What becomes of an answer that does not fit in the end: it passes as it is (`'raw'`), the call
   * fails with `schema_invalid` (`'throw'`), or a value takes its place.
   * @default 'raw'
   */
  readonly onFailure?:
    | 'raw'
    | 'throw'
    | { readonly fallback: InferSchema<S> | ((issues: readonly StandardIssue[]) => InferSchema<S>) }
    | undefined
  /**
   * Whether arguments of tool calls that do not fit the tool's parameters are repaired too, without
   * asking again.
   * @default false
   */
  readonly toolCalls?: boolean | undefined
  /**
   * Characters up to which broken JSON is given to `jsonrepair`, whose time grows faster than a hostile
   * text does. What is longer is mended by a simpler reader, in one pass.
   * @default 4000
   */
  readonly maxRepairChars?: number | undefined
  /**
   * Told the value so far while the answer comes in. Middlewares further out have not seen it yet: for the
   * screen of a user, take `partialValues` of the stream. What it throws is dropped.
   */
  readonly onPartial?: ((value: unknown, context: ChatContext) => void) | undefined
}

const steps: readonly RepairStep[] = ['extract', 'json-repair', 'coerce', 're-ask']

/** @throws TypeError or RangeError that names the option and the value */
export function checkSchemaOptions(options: SchemaValidatorOptions): void {
  const owner = 'schemaValidator'
  if ('~standard' in options) throw wrongOption(owner, 'schema', 'given, as { schema }', undefined)
  checkOptions(owner, options, {
    ...middlewareRules,
    schema: 'any',
    repair: 'any',
    maxReasks: 0,
    reaskMessage: 'function?',
    reaskClient: 'any',
    reaskModel: 'string?',
    refine: 'function?',
    onFailure: { fallback: 'any' },
    toolCalls: [true, false],
    maxRepairChars: 0,
    onPartial: 'function?',
  })
  const { schema, repair, onFailure, reaskClient } = options
  const isDescribed = typeof schema === 'object' ? schema !== null : isStandard(schema)
  if (schema !== undefined && !isDescribed) {
    throw wrongOption(owner, 'schema', 'a Standard Schema or a JSON Schema', schema)
  }
  const isList = Array.isArray(repair) && repair.every((step) => steps.includes(step))
  if (repair !== undefined && !isList) {
    throw wrongOption(owner, 'repair', `a list of ${steps.join(', ')}`, repair)
  }
  if (reaskClient !== undefined && typeof reaskClient?.getResponse !== 'function') {
    throw wrongOption(owner, 'reaskClient', 'a chat client', reaskClient)
  }
  const isMode = onFailure === undefined || onFailure === 'raw' || onFailure === 'throw'
  if (!isMode && !(onFailure === Object(onFailure) && 'fallback' in (onFailure as object))) {
    throw wrongOption(owner, 'onFailure', "'raw', 'throw' or an object with `fallback`", onFailure)
  }
}

/** Some schemas, such as those of arktype, are functions. */
function isStandard(schema: unknown): boolean {
  return typeof schema === 'function' && '~standard' in schema
}
