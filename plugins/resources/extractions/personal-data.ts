import { personalRecords } from 'pounce/sdk/kit'
import { archivals, extractions, extractors } from './collections.ts'

export const PersonalRuns = personalRecords({
  name: 'extractions',
  summary: 'Extractions on your behalf.',
  in: extractions,
  isOf: ({ user }, { id }) => user === id,
  show: ({ id, target, extractor, state, status, start, end, trigger }) => ({ id, target, extractor, state, status, start, end, trigger }),
})

export const PersonalExtractors = personalRecords({
  name: 'extractors',
  summary: 'Extractors that you registered, and private ones that you may use.',
  in: extractors,
  isOf: ({ owner, permissions }, { id }) => owner === id || permissions.includes(id),
  show: ({ id, name, updated, owner }, person) => ({ id, name, updated, isOwn: owner === person.id }),
  erase: ({ permissions }, { person }) => (permissions.includes(person.id) ? { pull: { permissions: [person.id] } } : undefined),
})

export const PersonalArchivals = personalRecords({
  name: 'archival-requests',
  summary: 'Datasets whose archival or unarchival you requested, while it is in progress.',
  in: archivals,
  isOf: ({ user }, { id }) => user === id,
  show: ({ dataset, operation }) => ({ dataset, operation }),
})
