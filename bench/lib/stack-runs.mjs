// Prints the processor time of a run, and of a streamed word, in microseconds: of a bare agent (`bare`), of one with the
// recommended middleware (`stack`), or of a run whose history has so many messages (a number).
import { bareAgent, stackAgent, wordsOfAStream } from './stack.mjs'

const [what] = process.argv.slice(2)
const messages = Number(what)
const agent = what === 'stack' ? await stackAgent() : bareAgent()
const turns = Array.from({ length: messages || 0 }, (_, index) => ({
  id: `m${index}`,
  role: index % 2 === 0 ? 'user' : 'assistant',
  contents: [{ type: 'text', text: `Message number ${index} of this conversation.` }],
}))

let number = 0
const input = () => [...turns, `How is the weather in Rome, number ${number++}?`]
const whole = () => agent.run(input())
const streamed = async () => {
  for await (const _ of agent.run(input(), { stream: true }));
}
const measured = async (run, times) => {
  const before = process.cpuUsage()
  for (let turn = 0; turn < times; turn++) {
    await run()
    if (turn % 50 === 0) await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}
const runs = messages > 0 ? 200 : 1000
await measured(whole, runs)
const perRun = await measured(whole, runs)
await measured(streamed, 20)
const perWord = (await measured(streamed, 40)) / wordsOfAStream
process.stdout.write(JSON.stringify({ perRun, perWord }))
process.exit(0)
