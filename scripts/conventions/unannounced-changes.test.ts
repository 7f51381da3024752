import { expect, it } from 'vitest'
import { unannouncedChanges } from './unannounced-changes.ts'

const released = { '@lamella/core': 'a', '@lamella/openai': 'b' }

it('types that changed since the release need a changeset that names the package', () => {
  const now = { ...released, '@lamella/core': 'changed' }

  expect(unannouncedChanges(now, released, [])).toEqual(['@lamella/core'])
  expect(unannouncedChanges(now, released, ["---\n'@lamella/openai': patch\n---"])).toEqual([
    '@lamella/core',
  ])
  expect(unannouncedChanges(now, released, ["---\n'@lamella/core': minor\n---"])).toEqual([])
  expect(unannouncedChanges(now, released, ['---\n"@lamella/core": minor\n---'])).toEqual([])
})

it('a package that is new needs one, too', () => {
  expect(unannouncedChanges({ ...released, '@lamella/new': 'c' }, released, [])).toEqual([
    '@lamella/new',
  ])
})

it('nothing is needed where nothing changed, or nothing was released', () => {
  expect(unannouncedChanges(released, released, [])).toEqual([])
  expect(unannouncedChanges(released, undefined, [])).toEqual([])
})
