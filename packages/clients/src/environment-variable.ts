interface ProcessGlobal {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> }
}

/** The value of a variable, without white space around it. Undefined where it is empty, or where there are none. */
export function environmentVariable(name: string): string | undefined {
  return (globalThis as ProcessGlobal).process?.env?.[name]?.trim() || undefined
}
