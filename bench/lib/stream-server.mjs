// Answers every request with 300 chunks of Chat Completions, ten in a write. Prints its address.
import { createServer } from 'node:http'
import { pieces } from './stream-chunks.mjs'

// A busy machine takes seconds between two answers: a connection that closes meanwhile would fail the next one.
const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let next = 0
    const write = () => {
      if (next === pieces.length) return response.end()
      response.write(pieces[next++])
      setImmediate(write)
    }
    write()
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`))
