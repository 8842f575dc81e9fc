import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { Models } from '../../api.ts'
import type { PathStep } from '../../components/page-parts.tsx'
import { api, urlOf } from '../../lib/api.ts'
import { type LiveEvent, onLiveEvents } from '../../lib/live.ts'
import { refresh } from '../../lib/queries.ts'
import { type Dataset, datasetQuery } from '../dataset/dataset-data.ts'

export type FullFile = Models['FullFile']

/** Whether a dataset, or a folder in it, was renamed or moved. */
const changesPlaces = ({ type, subject, data }: LiveEvent, dataset: string): boolean =>
  type === 'folder.updated' || type === 'folder.moved'
    ? data['dataset'] === dataset
    : type === 'dataset.updated' && subject === `dataset/${dataset}` && (data['fields'] as readonly string[]).includes('name')

/** The file, with its current location: changes of the folders above it do not name the file. */
export const useFile = (id: string) => {
  const file = useQuery({
    queryKey: ['file', id],
    queryFn: async ({ signal }) =>
      (await api('GET /api/files/{id}/metadata', { path: { id }, query: { view: 'full' }, signal })) as FullFile,
  })
  const places = file.data?.places
  useEffect(
    () =>
      onLiveEvents(events => {
        if (events.some(event => places?.some(({ dataset }) => changesPlaces(event, dataset.id))))
          void refresh({ queryKey: ['file', id], exact: true })
      }),
    [id, places],
  )
  return file
}

/** The location of the file: its dataset and folders. */
export const placePath = ({ places }: FullFile): readonly PathStep[] => {
  const [place] = places
  if (!place) return []
  const { dataset, folder, path } = place
  return [
    { name: dataset.name, to: `/datasets/${dataset.id}` },
    ...(folder === null ? [] : [{ name: path.join(' / '), to: `/datasets/${dataset.id}?folder=${folder}` }]),
  ]
}

/** The dataset to restore if the file is only in datasets in the trash. */
export const useTrashedDataset = ({ places }: FullFile): Dataset | undefined => {
  const ids = [...new Set(places.map(({ dataset }) => dataset.id))]
  const datasets = useQueries({ queries: ids.map(datasetQuery) }).map(({ data }) => data)
  return datasets.every(dataset => dataset?.trashedAt) ? datasets[0] : undefined
}

/** A run of an extractor on the file. */
export interface Run {
  readonly id: string
  readonly extractor: string
  readonly state: 'processing' | 'done' | 'failed' | 'cancelled'
  readonly message: string
  readonly start: string
}

/** The latest run of each extractor. Reloaded on live events of the file. */
export const useRuns = (id: string): readonly Run[] => {
  const { data = [] } = useQuery({
    queryKey: ['file', id, 'extractions'],
    queryFn: ({ signal }) => api('GET /api/files/{id}/extractions', { path: { id }, signal }),
  })
  const newest = new Map<string, Run>()
  // Newest first. The dates are texts that begin with the day of the week.
  for (const { id: run, extractor_id: extractor, state, status: message, start } of data)
    if (!newest.has(extractor)) newest.set(extractor, { id: run, extractor, state, message, start })
  return [...newest.values()]
}

/** Files of the same name in the same folder, newest first, this one included. */
export const useVersions = (id: string) =>
  useQuery({
    queryKey: ['file', id, 'versions'],
    queryFn: ({ signal }) => api('GET /api/files/{id}/versions', { path: { id }, signal }),
  }).data ?? []

export const useMetadata = (id: string) =>
  useQuery({
    queryKey: ['file', id, 'metadata'],
    queryFn: ({ signal }) => api('GET /api/files/{id}/metadata.jsonld', { path: { id }, query: { limit: 100 }, signal }),
  })

/** Maximum number of previews listed per file. */
const maxPreviews = 50

/** The previews of a file, with their sizes. */
export const usePreviews = (id: string) =>
  useQuery({
    queryKey: ['file', id, 'previews'],
    queryFn: async ({ signal }) => {
      const previews = await api('GET /api/files/{id}/listpreviews', { path: { id }, signal })
      return Promise.all(previews.slice(0, maxPreviews).map(async one => ({ ...one, sizeBytes: await sizeOf(one.id, signal) })))
    },
  })

const sizeOf = async (preview: string, signal: AbortSignal): Promise<number> => {
  const response = await fetch(urlOf(`/api/previews/${preview}`), { method: 'HEAD', signal })
  return Number(response.headers.get('content-length') ?? 0)
}

const pageSize = 1000
const maxPages = 10

/** The previous and next files in the dataset's list that the file was opened from, as given in the URL. Only the first 10,000 entries are searched. */
export const useNeighbours = (
  id: string,
  { dataset, folder, sort, order, find, below }: Readonly<Record<string, string>>,
): { readonly previous?: string | undefined; readonly next?: string | undefined } => {
  const { data = [] } = useQuery({
    queryKey: ['dataset', dataset, 'entries', 'files-in-order', folder, sort, order, find, below],
    enabled: dataset !== undefined,
    queryFn: async ({ signal }) => {
      const ids: string[] = []
      for (let page = 0; page < maxPages; page++) {
        const { entries } = await api('GET /api/datasets/{id}/entries', {
          path: { id: dataset ?? '' },
          query: {
            folder,
            sort: sort as 'name' | undefined,
            order: order as 'ascending' | undefined,
            filter: find,
            recursive: below === undefined ? undefined : true,
            limit: pageSize,
            skip: page === 0 ? undefined : page * pageSize,
          },
          signal,
        })
        for (const entry of entries) if (entry.kind === 'file') ids.push(entry.id)
        if (entries.length < pageSize) break
      }
      return ids
    },
  })
  const at = data.indexOf(id)
  return at === -1 ? {} : { previous: data[at - 1], next: data[at + 1] }
}
