// OpenAI Agents SDK: agent runs with tools. It has no middleware, so only k = 0 is measured.
import {
  decide,
  nextNumber,
  toolDescription,
  toolName,
  toolSchema,
  userText,
} from '../../lib/toolkit.mjs'

// By variable names, since only who wants to measure this peer has it installed.
const load = (name) => import(name)
const { Agent, Runner, Usage, setTracingDisabled, tool } = await load('@openai/agents')
setTracingDisabled(true)

const usage = { requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15 }
const input = [{ role: 'user', content: userText }]

function fakeModel(script) {
  return {
    async getResponse({ input: items }) {
      const lastOther = items.findLastIndex(({ type }) => type !== 'function_call_result')
      const results = items.slice(lastOther + 1).map(({ output }) => Number(output.text ?? output))
      const { text, calls } = decide(results.length === 0 ? null : results, script)
      const output = calls?.map(({ id, name, args }) => ({
        type: 'function_call',
        id,
        callId: id,
        name,
        status: 'completed',
        arguments: JSON.stringify(args),
      })) ?? [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text }],
        },
      ]
      return { usage: new Usage(usage), output, responseId: 'r' }
    },
  }
}

const nextNumberTool = tool({
  name: toolName,
  description: toolDescription,
  parameters: toolSchema,
  execute: ({ n }) => String(nextNumber(n)),
})

export default {
  agentRun({ k, rounds, parallel }) {
    if (k > 0) return undefined
    const model = fakeModel({ rounds, parallel })
    const agent = new Agent({ name: 'bench', model, tools: [nextNumberTool] })
    const runner = new Runner({ tracingDisabled: true })
    const options = { maxTurns: rounds + 2 }
    return {
      run: async () => (await runner.run(agent, input, options)).finalOutput,
      expect: {},
    }
  },
}
