import type { DataContent, UriContent } from '@lamella/core'
import { expect, test } from 'vitest'
import { locatedFile } from './located-file.ts'

const at = (uri: string, more: Partial<UriContent> = {}): UriContent => ({
  type: 'uri',
  uri,
  ...more,
})

test.each<[string, DataContent | UriContent, unknown]>([
  [
    'bytes',
    { type: 'data', mediaType: 'image/png', data: new Uint8Array(3) },
    { mediaType: 'image/png', base64: 'AAAA' },
  ],
  [
    'a media type with parameters',
    { type: 'data', mediaType: 'Text/Plain; charset=utf-8', data: 'AAAA' },
    { mediaType: 'text/plain', base64: 'AAAA' },
  ],
  [
    'a media type that is spelled wrong',
    { type: 'data', mediaType: 'image/jpg', data: 'AAAA' },
    { mediaType: 'image/jpeg', base64: 'AAAA' },
  ],
  ['a data URI', at('data:image/webp;base64,AAAA'), { mediaType: 'image/webp', base64: 'AAAA' }],
  ['a data URI of text', at('data:,a%20b'), { mediaType: 'text/plain', base64: btoa('a b') }],
  [
    'an address with an ending',
    at('https://a.example/b.PDF?c=1'),
    { mediaType: 'application/pdf', uri: 'https://a.example/b.PDF?c=1' },
  ],
  [
    'an id with a file name',
    at('file_1', { name: 'a.csv' }),
    { mediaType: 'text/csv', uri: 'file_1' },
  ],
  [
    'an address that tells nothing',
    at('https://a.example/constructor.constructor'),
    { mediaType: undefined, uri: 'https://a.example/constructor.constructor' },
  ],
])('finds %s', (_name, content, found) => {
  expect(locatedFile(content)).toEqual(found)
})
