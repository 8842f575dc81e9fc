import { api } from './api.ts'
import { deleting, restoring } from './queries.ts'
import type { FullCollection, FullDataset } from './resources.ts'

/** What goes to the trash first when it is deleted. */
export interface Trashable {
  readonly kind: 'dataset' | 'collection'
  readonly id: string
}

const calls = {
  dataset: { read: 'GET /api/datasets/{id}', remove: 'DELETE /api/datasets/{id}', restore: 'PUT /api/datasets/restore/{id}' },
  collection: { read: 'GET /api/collections/{id}', remove: 'DELETE /api/collections/{id}', restore: 'PUT /api/collections/restore/{id}' },
} as const

/** Moves to the trash. What somebody else has moved there meanwhile stays there: to delete it a second time would be for good. */
export const trash = ({ kind, id }: Trashable): Promise<void> =>
  deleting(id, async () => {
    const path = { id }
    const { trashedAt } = (await api(calls[kind].read, { path, query: { view: 'full' } })) as FullDataset | FullCollection
    if (trashedAt === null) await api(calls[kind].remove, { path })
  })

/** Takes out of the trash. */
export const restore = ({ kind, id }: Trashable): Promise<void> => restoring(id, () => api(calls[kind].restore, { path: { id } }))
