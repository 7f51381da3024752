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
export { testClock } from './test-clock.ts'
export type { TestClock } from './test-clock.ts'
export { testRandom } from './test-random.ts'
export { ContractViolation, contractSuite, describeContract } from './contract-suite.ts'
export type { ContractCheck, ContractSuite, TestRunner } from './contract-suite.ts'
export { chatClientContract } from './chat-client-contract.ts'
export type { ChatClientContractOptions } from './chat-client-contract.ts'
export type { ClientHarness, ClientScenario } from './client-scenario.ts'
export { runAgentMiddleware, runChatMiddleware, runFunctionMiddleware } from './run-middleware.ts'
export type {
  AgentMiddlewareRunOptions,
  ChatMiddlewareRunOptions,
  FunctionMiddlewareRunOptions,
  InnerRun,
  InnerToolCall,
  MiddlewareRun,
  MiddlewareRunOptions,
} from './run-middleware.ts'
export { runIn, runModes } from './run-in.ts'
export type { RunInOptions, RunMode } from './run-in.ts'
export { clientRequest, collect, failureOf } from './client-request.ts'
export { assertChunkInvariant } from './chunk-invariance.ts'
export type { ChunkInvarianceOptions } from './chunk-invariance.ts'
export { assertSealed } from './assert-sealed.ts'
export type { SealOptions } from './assert-sealed.ts'
export { middlewareContract } from './middleware-contract.ts'
export type { MiddlewareContractOptions } from './middleware-contract.ts'
export { storeContract } from './store-contract.ts'
export type { StoreContractOptions, StoreHarness } from './store-contract.ts'
export { guardContract } from './guard-contract.ts'
export type { GuardContractOptions, GuardedStage, GuardViolation } from './guard-contract.ts'
