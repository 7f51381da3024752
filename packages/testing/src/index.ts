export { callFunction } from './scripted-step.ts'
export type {
  ScriptedAnswer,
  ScriptedReply,
  ScriptedRequest,
  ScriptedStep,
  ScriptedStream,
} from './scripted-step.ts'
export { ScriptedClient, ScriptError, scriptedClient } from './scripted-client.ts'
export type { ScriptedClientOptions } from './scripted-client.ts'
export { cutText } from './chunking.ts'
export type { Chunking } from './chunking.ts'
export { systemClock } from './clock.ts'
export type { Clock } from './clock.ts'
export { testClock } from './test-clock.ts'
export type { TestClock } from './test-clock.ts'
export { testRandom } from './test-random.ts'
export { ContractViolation, contractSuite, describeContract } from './contract-suite.ts'
export type { ContractCheck, ContractSuite, TestRunner } from './contract-suite.ts'
export { chatClientContract } from './chat-client-contract.ts'
export type { ChatClientContractOptions } from './chat-client-contract.ts'
export type { ClientHarness, ClientScenario } from './client-scenario.ts'
