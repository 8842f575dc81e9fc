import { defineResource, eq, event, type FileRecord, type Ref } from 'pounce/sdk'
import { createdOrTaggedBy, transferred } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import { SearchableFiles } from './searchable-files.ts'

const within = (id: string) => ({ using: 'byPlace', where: eq('places.in', id) })

const datasetsOf = ({ places }: FileRecord): readonly Ref[] =>
  [...new Set(places.map(({ dataset }) => dataset))].map(id => ({ kind: 'dataset', id }))

export const fileResource = defineResource<FileRecord>({
  kind: 'file',
  collection: files,
  view: 'ViewFile',
  // A file has the rights of the datasets that contain it; one in no dataset is accessible to its author only.
  rights: record => {
    const parents = datasetsOf(record)
    return { author: record.author, spaces: [], isPublic: false, state: 'live', ...(parents.length > 0 ? { parents } : {}) }
  },
  follow: ({ name }) => name,
  counts: { dataset: within, folder: within },
  countsBelow: { dataset: id => ({ using: 'byDataset', where: eq('places.dataset', id) }) },
  search: SearchableFiles,
  tree: {
    sort: { by: 'name', order: 'ascending' },
    node: ({ name, author }) => ({ name, data: { authorId: author } }),
    isLeaf: true,
  },
  report: {},
  references: ({ places }) => places.flatMap(({ folder }) => (folder === null ? [] : [{ kind: 'folder', id: folder }])),
  personalData: {
    name: 'files',
    summary: 'Files that you uploaded, with their places, sizes and checksums, and tags that you added to others.',
    ...createdOrTaggedBy<FileRecord>(
      ...(['name', 'originalName', 'description', 'created', 'contentType', 'sizeBytes', 'sha256', 'places', 'license', 'status'] as const),
    ),
    erase: transferred(id => [event('file.updated', { kind: 'file', id }, { fields: ['author'] })]),
  },
})
