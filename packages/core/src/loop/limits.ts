import { checkNames, wrongOption } from '../base/check-options.ts'
import type { FunctionInvocationConfiguration, LoopConfiguration } from '../contract/limits.ts'

const defaults: LoopConfiguration = {
  enabled: true,
  maxIterations: 40,
  maxFunctionCalls: Infinity,
  maxConsecutiveErrorsPerRequest: 3,
  terminateOnUnknownCalls: false,
  additionalTools: [],
  includeDetailedErrors: false,
  maxConcurrency: Infinity,
  onUnknownTool: undefined,
}

/** Names of the settings of the tool loop. */
export const loopSettingNames: readonly string[] = Object.keys(defaults)

/** @throws TypeError or RangeError that names the setting, and a wrong value */
export function loopConfiguration(config: FunctionInvocationConfiguration = {}): LoopConfiguration {
  checkNames('functionInvocation', config, loopSettingNames)
  const { onUnknownTool } = config
  const settings: Record<string, unknown> = {}
  for (const name of loopSettingNames as (keyof LoopConfiguration)[]) {
    const value = config[name] ?? defaults[name]
    const least = name === 'maxConsecutiveErrorsPerRequest' ? 0 : 1
    const isCount = value === Infinity || (Number.isInteger(value) && (value as number) >= least)
    if (typeof defaults[name] === 'number' && !isCount) {
      throw wrongOption('functionInvocation', name, `a whole number from ${least} up`, value)
    }
    settings[name] = value
  }
  if (onUnknownTool !== undefined && typeof onUnknownTool !== 'function') {
    throw wrongOption('functionInvocation', 'onUnknownTool', 'a function', onUnknownTool)
  }
  return settings as unknown as LoopConfiguration
}
