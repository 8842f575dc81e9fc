import { event, personalRecords, type Tag, transferred } from 'pounce/sdk'
import { collections } from './collection.ts'

const tagsOf = (tags: readonly Tag[], user: string): readonly object[] =>
  tags.filter(tag => tag.user === user).map(({ id, name, created }) => ({ id, name, created }))

/** What somebody made, and tags that they wrote. */
export const PersonalCollections = personalRecords({
  name: 'collections',
  summary: 'Collections that you created, and tags that you added to others.',
  in: collections,
  isOf: ({ author, tags }, person) => author === person.id || tags.some(({ user }) => user === person.id),
  show: ({ id, author, tags, name, description, created, spaces, parents, state }, person) => ({
    id,
    ...(author === person.id ? { name, description, created, spaces, parents, state } : {}),
    tags: tagsOf(tags, person.id),
  }),
  erase: transferred(id => [event('collection.updated', { kind: 'collection', id }, { fields: ['author'] })]),
})
