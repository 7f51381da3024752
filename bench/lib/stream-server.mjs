// Answers every request with 300 chunks of Chat Completions, ten in a write. Prints its address.
import { createServer } from 'node:http'

const event = (delta, finish_reason = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const writes = Array.from({ length: 30 }, () =>
  Array.from({ length: 10 }, (_, index) => event({ content: `word${index} ` })).join(''),
)
writes.push(`${event({}, 'stop')}data: [DONE]\n\n`)

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let next = 0
    const write = () => {
      if (next === writes.length) return response.end()
      response.write(writes[next++])
      setImmediate(write)
    }
    write()
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`))
