import { api } from './api.ts'
import { deleting, restoring } from './queries.ts'
import type { FullCollection, FullDataset } from './resources.ts'

/** Kinds that are moved to the trash when deleted. */
export interface Trashable {
  readonly kind: 'dataset' | 'collection'
  readonly id: string
}

const calls = {
  dataset: { read: 'GET /api/datasets/{id}', remove: 'DELETE /api/datasets/{id}', restore: 'PUT /api/datasets/restore/{id}' },
  collection: { read: 'GET /api/collections/{id}', remove: 'DELETE /api/collections/{id}', restore: 'PUT /api/collections/restore/{id}' },
} as const

/** Moves to the trash. What somebody else has already moved there stays there: deleting it again would be permanent. */
export const trash = ({ kind, id }: Trashable): Promise<void> =>
  deleting(id, async () => {
    const path = { id }
    const { trashedAt } = (await api(calls[kind].read, { path, query: { view: 'full' } })) as FullDataset | FullCollection
    if (trashedAt === null) await api(calls[kind].remove, { path })
  })

/** Restores from the trash. */
export const restore = ({ kind, id }: Trashable): Promise<void> => restoring(id, () => api(calls[kind].restore, { path: { id } }))
