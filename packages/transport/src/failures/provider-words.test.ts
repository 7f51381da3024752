import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { providerWords, safeName } from './provider-words.ts'

const clean = (message: string, texts: string[] = [], keys: string[] = []) =>
  providerWords(message, { keys: () => keys, texts: () => texts })

test.each([
  ['Unsupported parameter: max_tokens.', 'Unsupported parameter: max_tokens.'],
  ['Key my-own-key is wrong', 'Key [key] is wrong'],
  ['Incorrect key: sk-proj-abc123', 'Incorrect key: [key]'],
  ['Incorrect key: demo-***-key.', 'Incorrect key: [key]'],
  ['authorization: Bearer abc.def', 'authorization: Bearer [key]'],
  ['<!doctype html><p>Bad gateway', 'a web page instead of JSON'],
  ['x'.repeat(600), `${'x'.repeat(500)}…`],
])('%j becomes %j', (message, words) => {
  expect(clean(message, [], ['my-own-key'])).toBe(words)
})

test('a key of eight letters is one', () => {
  expect(clean('The key abcdefgh is wrong', [], ['abcdefgh'])).toBe('The key [key] is wrong')
})

test.each(['none', 'ollama'])('the placeholder %s is a word like any other', (key) => {
  const words = `none of the ollama models supports tools; set tool_choice to none`

  expect(clean(words, [], [key])).toBe(words)
})

test('what is quoted of the conversation is taken out, the words around it stay', () => {
  const prompt = 'My card number is 4111 1111 1111 1111, keep it.'

  expect(clean(`Invalid value: '${prompt}'.`, [prompt])).toBe("Invalid value: '[…]'.")
  expect(clean(`'${prompt}' is not '${prompt}'.`, [prompt])).toBe("'[…]' is not '[…]'.")
  expect(clean(`Invalid: ${prompt.slice(8, 30)}…`, ['other', prompt])).toBe('Invalid:[…]…')
  expect(clean('Nothing of Ada Lovelace here', ['Ada Lovelace'])).toBe('Nothing of […] here')
  expect(clean('The model was not found', ['model', 'was'])).toBe('The model was not found')
})

test('no 16 characters of a text are left, wherever they stand', () => {
  const letter = fc.constantFrom('a', 'b', 'c')
  const text = fc.array(letter, { minLength: 16, maxLength: 60 }).map((letters) => letters.join(''))

  fc.assert(
    fc.property(text, fc.nat(40), text, (secret, from, around) => {
      const quote = secret.slice(from % (secret.length - 15))
      const words = clean(`${around} ${quote} ${around}`, [secret])

      for (let at = 0; at + 16 <= secret.length; at++) {
        expect(words).not.toContain(secret.slice(at, at + 16))
      }
    }),
  )
})

test.each<[unknown, string | undefined]>([
  ['context_length.v-2', 'context_length.v-2'],
  ['says: Hello', undefined],
  ['', undefined],
  ['x'.repeat(65), undefined],
  [400, undefined],
])('of the code %j, %j is shown', (code, shown) => {
  expect(safeName(code)).toBe(shown)
})
