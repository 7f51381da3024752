/** The floor of a streamed answer: yields the texts of a Chat Completion, read with `fetch` and nothing else. */
export async function* readByHand(fetch, url) {
  const messages = [{ role: 'user', content: 'Hi' }]
  const body = JSON.stringify({ model: 'm', stream: true, messages })
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', body })
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of response.body) {
    rest += decoder.decode(bytes, { stream: true })
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const data = rest.slice('data: '.length, end)
      rest = rest.slice(end + 2)
      if (data !== '[DONE]') yield JSON.parse(data).choices[0].delta.content ?? ''
    }
  }
}
