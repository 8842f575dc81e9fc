import { defineResource } from 'pounce/sdk'
import { createdBy } from 'pounce/sdk/kit'
import { type RelationRecord, relations, resourceOf } from './stored-relations.ts'

export const relationResource = defineResource<RelationRecord>({
  kind: 'relation',
  collection: relations,
  view: 'ViewRelation',
  // A relation has the rights of both of its ends. One without an end on this server belongs to its creator.
  rights: ({ source, target, author }) => {
    const parents = [source, target].flatMap(end => resourceOf(end) ?? [])
    const none = { spaces: [], isPublic: false, state: 'live' } as const
    return parents.length > 0 ? { ...none, author: '', parents } : { ...none, author: author ?? '' }
  },
  personalData: {
    name: 'relations',
    summary: 'Relations that you created.',
    ...createdBy<RelationRecord>('source', 'target', 'rdfType', 'created'),
  },
})
