import type { SearchQuery } from 'pounce/sdk/search'
import { type FieldCondition, mapField } from './map-field.ts'

const userSubmitted = /^(metadata\.)?user-submitted\./

const onFiles: SearchQuery = { op: 'field', field: 'resource_type', is: 'equals', values: ['file'] }

/** Clowder 1.x names the metadata that people add to files by the API `user-submitted.<field>` (reference, api-platform §8); here it has the same field as all that people add. */
export const resolveUserSubmitted = (query: SearchQuery): SearchQuery =>
  mapField(query, userSubmitted, condition => {
    const plain: FieldCondition = { ...condition, field: (condition.field ?? '').replace(userSubmitted, '$1') }
    if (condition.op === 'missing') return { op: 'and', all: [condition, plain] }
    return { op: 'or', any: [condition, { op: 'and', all: [onFiles, plain] }] }
  })
