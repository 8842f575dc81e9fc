import { and, type CollectionRecord, defineResource, eq, event } from 'pounce/sdk'
import { createdOrTaggedBy, transferred } from 'pounce/sdk/kit'
import { collections } from './collection.ts'
import { CollectionLists } from './collection-lists.ts'
import { SearchableCollections } from './searchable-collections.ts'

const live = eq('state', 'live')

export const collectionResource = defineResource<CollectionRecord>({
  kind: 'collection',
  collection: collections,
  view: 'ViewCollection',
  rights: ({ author, spaces, isPublic, state }) => ({ author, spaces, isPublic, state }),
  follow: ({ name, state }) => (state === 'live' ? name : undefined),
  counts: {
    space: id => ({ using: 'bySpace', where: and(live, eq('spaces', id)) }),
    collection: id => ({ using: 'byParent', where: and(live, eq('parents', id)) }),
  },
  search: SearchableCollections,
  tree: { contents: CollectionLists, node: ({ name, author }) => ({ name, data: { authorId: author } }) },
  report: { where: [live] },
  references: ({ parents }) => parents.map(id => ({ kind: 'collection', id })),
  personalData: {
    name: 'collections',
    summary: 'Collections that you created, and tags that you added to others.',
    ...createdOrTaggedBy<CollectionRecord>('name', 'description', 'created', 'spaces', 'parents', 'state'),
    erase: transferred(id => [event('collection.updated', { kind: 'collection', id }, { fields: ['author'] })]),
  },
})
