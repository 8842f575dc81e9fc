import { keepPreviousData, queryOptions, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { type Answer, api, apiPage } from '../../lib/api.ts'
import { loadExtractionStates } from '../../lib/extraction-states.ts'
import { onLiveEvents } from '../../lib/live.ts'
import { isNotFound } from '../../lib/messages.ts'
import { queries, refresh } from '../../lib/queries.ts'

type EntryPage = Answer<'GET /api/datasets/{id}/entries'>

/** A folder or a file of a dataset. */
export type Entry = EntryPage['entries'][number]

export type EntrySort = 'name' | 'size' | 'created' | 'type'

/** The filters and order of a dataset's list. Memoize it: another object is another list. */
export interface EntryQuery {
  readonly dataset: string
  /** The root, unless a folder is given. */
  readonly folder: string | undefined
  readonly isRecursive: boolean
  readonly sort: EntrySort
  readonly order: 'ascending' | 'descending'
  /** Text in the name; empty for all. */
  readonly filter: string
}

/** A list of entries whose rows are loaded by range. */
export interface EntryList {
  /** The list that the rows belong to: while another list is loading, the previous one stays. */
  readonly query: EntryQuery
  readonly count: number
  readonly row: (index: number) => Entry | undefined
  readonly onRange: (start: number, end: number) => void
  readonly loadRows: (start: number, end: number) => Promise<readonly Entry[]>
  /** Bytes of all files in the list; undefined where the server does not compute them. */
  readonly totalBytes: number | undefined
  /** The search may find more than `count`. */
  readonly isCounting: boolean
  readonly isLoading: boolean
  readonly error: unknown
  readonly retry: () => void
}

const pageSize = 200
const bulkSize = 1000

const keyOf = ({ dataset, ...rest }: EntryQuery, at: number | 'found') => ['dataset', dataset, 'entries', rest, at] as const

const inputOf = ({ dataset, folder, isRecursive, sort, order, filter }: EntryQuery, limit: number) => ({
  path: { id: dataset },
  query: { folder, recursive: isRecursive || undefined, sort, order, filter: filter === '' ? undefined : filter, limit },
})

/** The rows do not wait for the extractor states of them and of the dataset. */
const loadStates = (dataset: string, { entries }: EntryPage): void =>
  void loadExtractionStates([dataset, ...entries.filter(({ kind }) => kind === 'file').map(({ id }) => id)])

/** A page of a list, by its number. */
export const pageQuery = (query: EntryQuery, at: number) =>
  queryOptions({
    queryKey: keyOf(query, at),
    queryFn: async ({ signal }) => {
      const { path, query: parameters } = inputOf(query, pageSize)
      const page = await api('GET /api/datasets/{id}/entries', {
        path,
        query: { ...parameters, skip: at === 0 ? undefined : at * pageSize },
        signal,
      })
      loadStates(query.dataset, page)
      return page
    },
    gcTime: 120_000,
  })

/** Default order of folders. */
export const listingOf = (dataset: string, folder: string | undefined): EntryQuery => ({
  ...{ dataset, folder, isRecursive: false, sort: 'name', order: 'ascending', filter: '' },
})

/** Whether a page, by its number, is the last one of its list. */
export const isLastPage = ({ entries, total }: EntryPage, at: number): boolean =>
  total === null ? entries.length < pageSize : (at + 1) * pageSize >= total

/**
 * The list as provided by the server. Where it knows the total, any range is loaded by its position; where it does not (name searches in
 * large datasets), rows are loaded page by page.
 */
export const useEntries = (query: EntryQuery): EntryList => {
  const wanted = useQuery(pageQuery(query, 0))
  const [shown, setShown] = useState(query)
  if (shown !== query && (wanted.isSuccess || wanted.isError)) setShown(query)
  const first = useQuery(pageQuery(shown, 0))
  const isPaged = first.data !== undefined && first.data.total !== null
  const paged = usePages(shown, isPaged ? first.data : undefined)
  const found = useFound(shown, first.data !== undefined && !isPaged)
  const { rows, onRange } = isPaged ? paged : found
  const count = isPaged ? (first.data.total ?? 0) : found.count
  const loadRows = useCallback(
    async (start: number, end: number) => (isPaged ? await readRange(shown, start, end) : found.all.slice(start, end)),
    [isPaged, shown, found.all],
  )
  useFreshStates(shown)
  return {
    query: shown,
    count,
    row: rows,
    onRange,
    loadRows,
    totalBytes: first.data?.totalBytes ?? undefined,
    isCounting: !isPaged && found.isSearching,
    isLoading: wanted.isPending,
    error: wanted.data === undefined || (query.folder !== undefined && isNotFound(wanted.error)) ? wanted.error : undefined,
    retry: () => void wanted.refetch(),
  }
}

const usePages = (query: EntryQuery, first: EntryPage | undefined) => {
  const [{ from, to }, setRange] = useState({ from: 0, to: 0 })
  const pages = useQueries({
    queries: Array.from({ length: first ? to - from + 1 : 0 }, (_, at) => ({
      ...pageQuery(query, from + at),
      // The first page is loaded by itself.
      enabled: from + at > 0,
    })),
    combine: results => results.map(({ data }) => data),
  })
  const rows = useMemo(() => {
    const loaded = new Map(pages.map((page, at) => [from + at, page] as const))
    loaded.set(0, first)
    return (index: number): Entry | undefined => {
      const at = Math.floor(index / pageSize)
      const page = loaded.get(at) ?? queries.getQueryData<EntryPage>(keyOf(query, at))
      return page?.entries[index - at * pageSize]
    }
  }, [query, first, pages, from])
  const onRange = useCallback((start: number, end: number) => {
    const next = { from: Math.floor(start / pageSize), to: Math.floor(Math.max(start, end - 1) / pageSize) }
    setRange(last => (last.from === next.from && last.to === next.to ? last : next))
  }, [])
  return { rows, onRange }
}

const noEntries: readonly Entry[] = []

const useFound = (query: EntryQuery, isEnabled: boolean) => {
  const { data, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: keyOf(query, 'found'),
    queryFn: async ({ pageParam, signal }) => {
      const { path, query: parameters } = inputOf(query, pageSize)
      const page = await apiPage('GET /api/datasets/{id}/entries', { path, query: { ...parameters, after: pageParam }, signal })
      loadStates(query.dataset, page.rows)
      return page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next?.['after'],
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  })
  const all = useMemo(() => data?.pages.flatMap(({ rows }) => rows.entries) ?? noEntries, [data])
  // A page of a large dataset can be short, or empty, without being the last one.
  const [needed, setNeeded] = useState(50)
  useEffect(() => {
    if (isEnabled && hasNextPage && !isFetching && all.length < needed) void fetchNextPage()
  }, [isEnabled, hasNextPage, isFetching, fetchNextPage, all.length, needed])
  const rows = useCallback((index: number): Entry | undefined => all[index], [all])
  const onRange = useCallback((_: number, end: number) => setNeeded(Math.max(50, end + 50)), [])
  return { all, rows, onRange, count: all.length, isSearching: isEnabled && (hasNextPage || isFetching) }
}

/** Entries at positions from `start` to before `end`, in requests of a thousand. */
const readRange = async (query: EntryQuery, start: number, end: number): Promise<readonly Entry[]> => {
  const found: Entry[] = []
  for (let skip = start; skip < end; skip += bulkSize) {
    const { path, query: parameters } = inputOf(query, Math.min(bulkSize, end - skip))
    const { entries } = await api('GET /api/datasets/{id}/entries', { path, query: { ...parameters, skip } })
    found.push(...entries)
  }
  return found
}

/** All entries of a list, also where the server does not know their positions; fewer if it is stopped. */
export const allEntries = async (query: EntryQuery, signal: AbortSignal): Promise<readonly Entry[]> => {
  const found: Entry[] = []
  let after: string | undefined
  do {
    const { path, query: parameters } = inputOf(query, bulkSize)
    const { rows, next } = await apiPage('GET /api/datasets/{id}/entries', { path, query: { ...parameters, after } })
    found.push(...rows.entries)
    after = next?.['after']
  } while (after !== undefined && !signal.aborted)
  return found
}

const isPage = (data: unknown): data is EntryPage => Array.isArray((data as EntryPage | undefined)?.entries)

/** The loaded pages of all lists of a dataset, those that are out of date first. */
const loadedPages = (dataset: string) =>
  queries
    .getQueryCache()
    .findAll({ queryKey: ['dataset', dataset, 'entries'] })
    .flatMap(query => (isPage(query.state.data) ? [{ query, page: query.state.data, isStale: query.state.isInvalidated }] : []))
    .sort((one, other) => Number(other.isStale) - Number(one.isStale))

const changeEntries = (dataset: string, changes: ReadonlyMap<string, Partial<Entry>>): void => {
  for (const { query, page, isStale } of loadedPages(dataset)) {
    if (!page.entries.some(({ id }) => changes.has(id))) continue
    const entries = page.entries.map(entry => (changes.has(entry.id) ? { ...entry, ...changes.get(entry.id) } : entry))
    query.setData({ ...page, entries })
    // Otherwise it would not be reloaded when it is shown next.
    if (isStale) query.invalidate()
  }
}

/** Shows a change of an entry before the server has responded. */
export const changeEntry = (dataset: string, id: string, change: Partial<Entry>): void => changeEntries(dataset, new Map([[id, change]]))

/** Reloads all lists of the dataset that are shown; the others when they are shown next. */
export const refreshEntries = (dataset: string): Promise<void> => queries.invalidateQueries({ queryKey: ['dataset', dataset] })

/** Events of deletions, and of files whose status changes, do not name the dataset. */
const useFreshStates = ({ dataset, folder }: EntryQuery): void => {
  useEffect(
    () =>
      onLiveEvents(events => {
        const changes = new Map<string, Partial<Entry>>()
        let hasNewOrder = false
        for (const { type, subject, data } of events) {
          const id = subject.split('/')[1] ?? ''
          if (type === 'file.deleted' || type === 'folder.deleted') hasNewOrder ||= id === folder || isLoaded(dataset, id)
          if (type !== 'file.updated' && type !== 'folder.updated') continue
          const { status, name } = data
          const change = { ...(typeof status === 'string' ? { status } : {}), ...(typeof name === 'string' ? { name } : {}) }
          changes.set(id, { ...changes.get(id), ...change })
        }
        hasNewOrder ||= isAnyRenamed(dataset, changes)
        if (changes.size > 0) changeEntries(dataset, changes)
        if (hasNewOrder) void refresh({ queryKey: ['dataset', dataset] })
      }),
    [dataset, folder],
  )
}

const isLoaded = (dataset: string, id: string): boolean =>
  loadedPages(dataset).some(({ page }) => page.entries.some(entry => entry.id === id))

/** Own renames are in the lists before their events arrive. */
const isAnyRenamed = (dataset: string, changes: ReadonlyMap<string, Partial<Entry>>): boolean =>
  loadedPages(dataset).some(({ page }) =>
    page.entries.some(({ id, name }) => {
      const change = changes.get(id)
      return change?.name !== undefined && change.name !== name
    }),
  )

const byId = (pages: readonly { readonly page: EntryPage }[]): Map<string, Entry> =>
  new Map(pages.flatMap(({ page }) => page.entries.map(entry => [entry.id, entry])))

/** Entries of all loaded lists, by ID. */
export const loadedEntries = (dataset: string): ReadonlyMap<string, Entry> => byId(loadedPages(dataset))

interface PathFolder {
  readonly id: string
  readonly name: string
}

/** The folders from the root down to a folder, including it. */
export const useFolderPath = (dataset: string, folder: string | undefined) =>
  useQuery({
    queryKey: ['dataset', dataset, 'folder-path', folder],
    queryFn: ({ signal }) => readFolderPath(dataset, folder ?? '', signal),
    enabled: folder !== undefined,
    placeholderData: keepPreviousData,
  }).data

const maxPathPages = 5

const readFolderPath = async (dataset: string, folder: string, signal: AbortSignal): Promise<readonly PathFolder[]> => {
  const known = byId(loadedPages(dataset).filter(({ isStale }) => !isStale))
  const chain = (): readonly PathFolder[] | undefined => {
    const path: PathFolder[] = []
    for (let at: string | null = folder; at !== null; ) {
      const one: Entry | undefined = known.get(at)
      if (!one) return undefined
      path.unshift({ id: one.id, name: one.name })
      at = one.folder
    }
    return path
  }
  let after: string | undefined
  for (let page = 0; page < maxPathPages; page++) {
    const path = chain()
    if (path) return path
    const { rows, next } = await apiPage('GET /api/datasets/{id}/entries', {
      path: { id: dataset },
      query: { recursive: true, limit: bulkSize, after },
      signal,
    })
    for (const entry of rows.entries) if (entry.kind === 'folder') known.set(entry.id, entry)
    after = next?.['after']
    if (after === undefined || rows.entries.at(-1)?.kind === 'file') break
  }
  return chain() ?? []
}
