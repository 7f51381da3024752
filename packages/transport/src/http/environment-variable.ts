interface WithProcess {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> }
}

/** Returns an environment variable without white space around it; undefined if it is empty, or where there are none. */
export function environmentVariable(name: string): string | undefined {
  return (globalThis as WithProcess).process?.env?.[name]?.trim() || undefined
}
