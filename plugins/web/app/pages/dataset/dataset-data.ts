import { useQuery } from '@tanstack/react-query'
import { type Answer, api } from '../../lib/api.ts'

export type Dataset = Answer<'GET /api/datasets/{id}'>

export const useDataset = (id: string) =>
  useQuery({ queryKey: ['dataset', id], queryFn: ({ signal }) => api('GET /api/datasets/{id}', { path: { id }, signal }) })

/** How many files and bytes a dataset has, folders included. */
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
  }).data

export const useDatasetTags = (id: string) =>
  useQuery({
    queryKey: ['dataset', id, 'tags'],
    queryFn: async ({ signal }) => (await api('GET /api/datasets/{id}/tags', { path: { id }, signal })).items,
  }).data

/** The first space that the dataset is in, of those that the caller may see. */
export const usePlace = (spaces: readonly string[]) => {
  const [space = ''] = spaces
  return useQuery({
    queryKey: ['space', space],
    queryFn: ({ signal }) => api('GET /api/spaces/{id}', { path: { id: space }, signal }),
    enabled: space !== '',
    retry: false,
  }).data
}

/** Undefined for accounts that the caller may not see. */
export const useAuthorName = (id: string) =>
  useQuery({
    queryKey: ['user', id],
    queryFn: ({ signal }) => api('GET /api/users/{id}', { path: { id }, signal }),
    enabled: id !== '',
    retry: false,
    staleTime: 600_000,
  }).data?.fullName

/** Whether files of the dataset are processed at the moment. */
export const useIsProcessing = (id: string): boolean =>
  useQuery({
    queryKey: ['processing', id],
    queryFn: async ({ signal }) =>
      (await api('GET /api/datasets/{id}/isBeingProcessed', { path: { id }, signal })).isBeingProcessed === 'true',
    // It reads many files; live events would ask for it too often.
    refetchInterval: ({ state }) => (state.data === true ? 4000 : false),
  }).data === true

/** What the signed-in person follows; empty for others. */
export const useFollows = (kind: string, id: string, isSignedIn: boolean): boolean | undefined =>
  useQuery({
    queryKey: ['following'],
    queryFn: ({ signal }) => api('GET /api/me/following', { query: { limit: 1000 }, signal }),
    select: followed => followed.some(one => one.type === kind && one.id === id),
    enabled: isSignedIn,
  }).data
