export { callFunction } from './scripted/scripted-step.ts'
export type {
  ScriptedAnswer,
  ScriptedReply,
  ScriptedRequest,
  ScriptedStep,
  ScriptedStream,
} from './scripted/scripted-step.ts'
export { ScriptedClient, ScriptError, scriptedClient } from './scripted/scripted-client.ts'
export type { ScriptedClientOptions } from './scripted/scripted-client.ts'
export { cutText } from './base/chunking.ts'
export type { Chunking } from './base/chunking.ts'
export { testClock } from './base/test-clock.ts'
export type { TestClock } from './base/test-clock.ts'
export { testRandom } from './base/test-random.ts'
export { ContractViolation, contractSuite, describeContract } from './contracts/contract-suite.ts'
export type { ContractCheck, ContractSuite, TestRunner } from './contracts/contract-suite.ts'
export { chatClientContract } from './contracts/chat-client-contract.ts'
export type { ChatClientContractOptions } from './contracts/chat-client-contract.ts'
export type { ClientHarness, ClientScenario } from './contracts/client-scenario.ts'
export {
  runAgentMiddleware,
  runChatMiddleware,
  runFunctionMiddleware,
} from './scripted/run-middleware.ts'
export type {
  AgentMiddlewareRunOptions,
  ChatMiddlewareRunOptions,
  FunctionMiddlewareRunOptions,
  InnerRun,
  InnerToolCall,
  MiddlewareRun,
  MiddlewareRunOptions,
} from './scripted/run-middleware.ts'
export { runIn, runModes } from './scripted/run-in.ts'
export type { RunInOptions, RunMode } from './scripted/run-in.ts'
export { clientRequest, collect, failureOf } from './scripted/client-request.ts'
export { assertChunkInvariant } from './contracts/chunk-invariance.ts'
export type { ChunkInvarianceOptions } from './contracts/chunk-invariance.ts'
export { assertSealed } from './contracts/assert-sealed.ts'
export type { SealOptions } from './contracts/assert-sealed.ts'
export { middlewareContract } from './contracts/middleware-contract.ts'
export type { MiddlewareContractOptions } from './contracts/middleware-contract.ts'
export { storeContract } from './contracts/store-contract.ts'
export type { StoreContractOptions } from './contracts/store-contract.ts'
export type { StoreHarness } from './contracts/store-harness.ts'
export { guardrailContract } from './contracts/guardrail-contract.ts'
export type {
  GuardrailContractOptions,
  JudgedStage,
  GuardrailViolation,
} from './contracts/guardrail-contract.ts'
