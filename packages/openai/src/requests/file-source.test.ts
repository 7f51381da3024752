import { expect, test } from 'vitest'
import { fileSource } from './file-source.ts'

test.each(['constructor', 'toString', '__proto__', 'unknown'])(
  'an address that ends with .%s is an image of an unknown type',
  (ending) => {
    const uri = `https://shop.example/photo.${ending}`

    expect(fileSource({ type: 'uri', uri })).toMatchObject({ kind: 'image', mediaType: 'image/*' })
  },
)
