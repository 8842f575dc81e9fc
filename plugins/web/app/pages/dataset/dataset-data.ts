import { queryOptions, useQuery } from '@tanstack/react-query'
import { type Answer, api } from '../../lib/api.ts'

/** A dataset with everything shown of it. */
export type Dataset = Extract<Answer<'GET /api/datasets/{id}'>, { readonly rights: unknown }>

export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ['dataset', id],
    queryFn: async ({ signal }) => (await api('GET /api/datasets/{id}', { path: { id }, query: { view: 'full' }, signal })) as Dataset,
  })

export const useDataset = (id: string) => useQuery(datasetQuery(id))

/** Number of files and folders of a dataset at all levels, and their bytes; null where the server does not compute them. */
export const useDatasetTotals = (id: string) =>
  useQuery({
    queryKey: ['dataset', id, 'totals'],
    queryFn: async ({ signal }) => {
      const { total, totalBytes } = await api('GET /api/datasets/{id}/entries', {
        path: { id },
        query: { recursive: true, limit: 1 },
        signal,
      })
      return { total, totalBytes }
    },
  }).data ?? { total: null, totalBytes: null }

/** Whether files of the dataset are currently being processed. */
export const useIsProcessing = (id: string): boolean =>
  useQuery({
    queryKey: ['processing', id],
    queryFn: async ({ signal }) =>
      (await api('GET /api/datasets/{id}/isBeingProcessed', { path: { id }, signal })).isBeingProcessed === 'true',
    // It reads many files; live events would reload it too often.
    refetchInterval: ({ state }) => (state.data === true ? 4000 : false),
  }).data === true
