import { describe, expect, test } from 'vitest'
import { aesCipher, encryptedStore } from './encrypted-store.ts'
import { memoryStore } from '@lamella/core'

const secretOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

describe('encryptedStore', () => {
  test('keeps nothing readable of a value, and gives it back', async () => {
    const store = memoryStore()
    const sealed = encryptedStore(store, aesCipher(secretOf(1)))

    await sealed.set('note', { text: 'a secret' })

    expect(JSON.stringify(await store.get('note'))).not.toContain('secret')
    expect(await sealed.get('note')).toEqual({ text: 'a secret' })
    expect(await sealed.get('other')).toBeUndefined()
  })

  test('compares values, although no two encryptions are alike', async () => {
    const sealed = encryptedStore(memoryStore(), aesCipher(secretOf(1)))

    const wrote = [
      await sealed.compareAndSet('key', undefined, { n: 1 }),
      await sealed.compareAndSet('key', undefined, { n: 2 }),
      await sealed.compareAndSet('key', { n: 1 }, { n: 3 }),
    ]

    expect(wrote).toEqual([true, false, true])
    expect(await sealed.get('key')).toEqual({ n: 3 })
  })

  test('counters count on', async () => {
    const sealed = encryptedStore(memoryStore(), aesCipher(secretOf(1)))
    await sealed.set('n', 1)

    expect(await sealed.increment('n', 1)).toBe(2)
    expect(await sealed.get('n')).toBe(2)
  })

  test('an older secret still reads, and a new one writes', async () => {
    const store = memoryStore()
    await encryptedStore(store, aesCipher(secretOf(1))).set('key', 'old')
    const sealed = encryptedStore(store, aesCipher(secretOf(2), [secretOf(1)]))

    expect(await sealed.get('key')).toBe('old')
    await sealed.set('key', 'new')
    expect(await encryptedStore(store, aesCipher(secretOf(2))).get('key')).toBe('new')
  })

  test.each<[string, (text: unknown) => unknown]>([
    ['was not encrypted', () => ({ text: 'planted' })],
    ['was changed', (text) => `${String(text).slice(0, -6)}AAAA==`],
    ['is no text of ours', () => 'enc:1:%%%'],
  ])('rejects an entry that %s, without showing it', async (_, change) => {
    const store = memoryStore()
    const sealed = encryptedStore(store, aesCipher(secretOf(1)))
    await sealed.set('key', 'value')
    await store.set('key', change(await store.get('key')))

    const reading = sealed.get('key')

    await expect(reading).rejects.toMatchObject({ code: 'store_invalid' })
    await expect(reading).rejects.not.toThrow('planted')
  })

  test('shows no entry that was not encrypted to the cipher', async () => {
    const store = memoryStore()
    const cipher = { encrypt: (text: string) => text, decrypt: () => '"anything"' }
    await store.set('key', 'planted')

    const reading = encryptedStore(store, cipher).get('key')

    await expect(reading).rejects.toMatchObject({ code: 'store_invalid' })
  })

  test('rejects an entry that was moved to another key', async () => {
    const store = memoryStore()
    const sealed = encryptedStore(store, aesCipher(secretOf(1)))
    await sealed.set('mine', 'value')
    await store.set('yours', await store.get('mine'))

    await expect(sealed.get('yours')).rejects.toMatchObject({ code: 'store_invalid' })
  })

  test('names what is wrong with a secret or a cipher', () => {
    expect(() => aesCipher(new Uint8Array(5))).toThrow('16 or 32 bytes, got 5')
    expect(() => encryptedStore(memoryStore(), {} as never)).toThrow('`cipher.encrypt` must be')
  })
})
