import { event, personalRecords, type Tag, transferred } from 'pounce/sdk'
import { datasets } from './collection.ts'

const tagsOf = (tags: readonly Tag[], user: string): readonly object[] =>
  tags.filter(tag => tag.user === user).map(({ id, name, created }) => ({ id, name, created }))

/** What somebody made, and tags that they wrote. */
export const PersonalDatasets = personalRecords({
  name: 'datasets',
  summary: 'Datasets that you created, and tags that you added to others.',
  in: datasets,
  isOf: ({ author, tags }, person) => author === person.id || tags.some(({ user }) => user === person.id),
  show: ({ id, author, tags, name, description, created, modified, spaces, collections, creators, license, state }, person) => ({
    id,
    ...(author === person.id ? { name, description, created, modified, spaces, collections, creators, license, state } : {}),
    tags: tagsOf(tags, person.id),
  }),
  erase: transferred(id => [event('dataset.updated', { kind: 'dataset', id }, { fields: ['author'] })]),
})
