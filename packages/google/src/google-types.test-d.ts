import type {
  Candidate,
  CreateCachedContentConfig,
  FinishReason,
  FunctionCallingConfigMode,
  FunctionDeclaration,
  GenerateContentConfig,
  GenerateContentResponse,
  GenerateContentResponseUsageMetadata,
  HarmBlockThreshold,
  HarmCategory,
  HarmProbability,
  HarmSeverity,
  Part,
  SafetyRating,
  ThinkingConfig,
  ThinkingLevel,
  Tool,
  ToolConfig,
} from '@google/genai'
import type { ChatOptions } from '@lamella/core'
import { expectTypeOf, test } from 'vitest'
import type { endings } from './errors/endings.ts'
import type { GoogleChatClientOptions, GoogleProviderOptions, SafetySetting } from './index.ts'
import { GoogleChatClient } from './index.ts'

// The SDK's types are generated from Google's own description of the API.

test('every finish reason of the SDK is known', () => {
  // Not described further by Google; they count as an error.
  type Other = 'ESCALATION' | 'PUP_LIMITED_DISABLED'
  type Known = 'STOP' | keyof typeof endings | Other

  expectTypeOf<`${FinishReason}`>().toExtend<Known>()
  expectTypeOf<Exclude<Known, `${FinishReason}`>>().toBeNever()
})

test('the fields that requests have are those of the SDK', () => {
  type Config =
    | 'temperature'
    | 'topP'
    | 'maxOutputTokens'
    | 'stopSequences'
    | 'seed'
    | 'responseMimeType'
    | 'responseJsonSchema'
    | 'responseModalities'
    | 'mediaResolution'
    | 'thinkingConfig'
    | 'systemInstruction'
    | 'safetySettings'
    | 'tools'
    | 'toolConfig'
    | 'cachedContent'
    | 'serviceTier'
    | 'labels'
  type OfPart =
    | 'text'
    | 'thought'
    | 'thoughtSignature'
    | 'functionCall'
    | 'functionResponse'
    | 'inlineData'
    | 'fileData'
    | 'executableCode'
    | 'codeExecutionResult'
    | 'toolCall'
    | 'toolResponse'

  expectTypeOf<Config>().toExtend<keyof GenerateContentConfig>()
  expectTypeOf<OfPart>().toExtend<keyof Part>()
  expectTypeOf<'ttl' | 'contents' | 'systemInstruction' | 'tools' | 'toolConfig'>().toExtend<
    keyof CreateCachedContentConfig
  >()
  expectTypeOf<{
    name: string
    description: string
    parametersJsonSchema: object
  }>().toExtend<FunctionDeclaration>()
  expectTypeOf<'functionCallingConfig' | 'includeServerSideToolInvocations'>().toExtend<
    keyof ToolConfig
  >()
  expectTypeOf<'AUTO' | 'ANY' | 'NONE' | 'VALIDATED'>().toExtend<`${FunctionCallingConfigMode}`>()
  expectTypeOf<'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' | 'XHIGH'>().toExtend<`${ThinkingLevel}`>()
})

test('the fields that are read of answers are those of the SDK', () => {
  type Counts =
    | 'promptTokenCount'
    | 'toolUsePromptTokenCount'
    | 'candidatesTokenCount'
    | 'thoughtsTokenCount'
    | 'totalTokenCount'
    | 'cachedContentTokenCount'
  type OfCandidate =
    | 'content'
    | 'finishReason'
    | 'safetyRatings'
    | 'groundingMetadata'
    | 'urlContextMetadata'
    | 'citationMetadata'
    | 'continuationToken'

  expectTypeOf<Counts>().toExtend<keyof GenerateContentResponseUsageMetadata>()
  expectTypeOf<OfCandidate>().toExtend<keyof Candidate>()
  expectTypeOf<
    'candidates' | 'promptFeedback' | 'usageMetadata' | 'modelVersion' | 'responseId'
  >().toExtend<keyof GenerateContentResponse>()
  expectTypeOf<'category' | 'probability' | 'severity' | 'blocked'>().toExtend<keyof SafetyRating>()
  expectTypeOf<'NEGLIGIBLE' | 'LOW' | 'MEDIUM' | 'HIGH'>().toExtend<`${HarmProbability}`>()
  expectTypeOf<`HARM_SEVERITY_${'NEGLIGIBLE' | 'LOW' | 'MEDIUM' | 'HIGH'}`>().toExtend<`${HarmSeverity}`>()
})

test('values of the SDK are options', () => {
  type Setting = { category: HarmCategory; threshold: HarmBlockThreshold }
  type Thinking = { [Field in keyof ThinkingConfig]: ThinkingConfig[Field] }

  expectTypeOf<Setting>().toExtend<SafetySetting>()
  expectTypeOf<Thinking>().toExtend<NonNullable<GoogleProviderOptions['thinkingConfig']>>()
  expectTypeOf<
    { googleSearch: object } | { codeExecution: object } | { urlContext: object }
  >().toExtend<Tool>()
})

test('provider options fit the options of a call, as a variable and in place', () => {
  const google: GoogleProviderOptions = { cachedContent: 'cachedContents/1', validatedTools: true }

  expectTypeOf({ providerOptions: { google } }).toExtend<ChatOptions>()
})

test('a misspelt option does not compile', () => {
  // @ts-expect-error: it is called `safetySettings`
  const misspelt: GoogleProviderOptions = { safetysettings: [] }
  // @ts-expect-error: Vertex AI needs a token
  const vertex: GoogleChatClientOptions = { vertex: { project: 'p' } }

  expectTypeOf([misspelt, vertex]).toExtend<object>()
  expectTypeOf(GoogleChatClient).toBeConstructibleWith({ apiKey: async () => 'key' })
})
