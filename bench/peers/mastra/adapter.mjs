// Mastra: agent runs with tools. What it calls processors sees messages, not calls, so only k = 0 is measured.
import { decide, nextNumber, toolDescription, toolName, userText } from '../../lib/toolkit.mjs'

// By variable names, since only who wants to measure this peer has it installed.
const load = (name) => import(name)
const { Mastra } = await load('@mastra/core')
const { Agent } = await load('@mastra/core/agent')
const { createTool } = await load('@mastra/core/tools')
const { z } = await load('zod')

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

function fakeModel(script) {
  return {
    specificationVersion: 'v2',
    provider: 'fake',
    modelId: 'fake',
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const lastOther = prompt.findLastIndex(({ role }) => role !== 'tool')
      const results = prompt
        .slice(lastOther + 1)
        .flatMap(({ content }) => content.map(({ output }) => Number(output.value)))
      const { text, calls } = decide(results.length === 0 ? null : results, script)
      const content = calls?.map(({ id, name, args }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: name,
        input: JSON.stringify(args),
      })) ?? [{ type: 'text', text }]
      return { content, finishReason: calls ? 'tool-calls' : 'stop', usage, warnings: [] }
    },
  }
}

const tools = {
  [toolName]: createTool({
    id: toolName,
    description: toolDescription,
    inputSchema: z.object({ n: z.number() }),
    execute: async ({ n }) => nextNumber(n),
  }),
}

export default {
  agentRun({ k, rounds, parallel }) {
    if (k > 0) return undefined
    const model = fakeModel({ rounds, parallel })
    const agent = new Agent({ id: 'bench', name: 'bench', instructions: 'Be brief.', model, tools })
    // Otherwise it logs.
    void new Mastra({ logger: false, agents: { agent } })
    const messages = [{ role: 'user', content: userText }]
    const options = { maxSteps: rounds + 2 }
    return { run: async () => (await agent.generate(messages, options)).text, expect: {} }
  },
}
