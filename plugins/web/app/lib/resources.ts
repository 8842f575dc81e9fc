import { type InfiniteData, type QueryKey, useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { Models } from '../api.ts'
import { type Address, type Answer, apiPage, type ListPage } from './api.ts'

export type ListedKind = 'dataset' | 'collection' | 'space'

export type FullDataset = Models['FullDataset']
export type FullCollection = Models['FullCollection']
export type FullSpace = Models['FullSpace']
type Full = FullDataset | FullCollection | FullSpace

/** A dataset, collection or space as shown in lists, with the caller's permissions. */
export interface Listed {
  readonly kind: ListedKind
  readonly id: string
  readonly name: string
  readonly description: string
  readonly created: string
  readonly modified: string
  readonly author: string
  readonly authorId: string
  /** Ids of the spaces and collections that it is directly in, as far as the caller may view them. */
  readonly places: readonly string[]
  readonly thumbnail: string | null
  readonly rights: readonly string[]
  readonly isTrashed: boolean
  /** Files of a dataset, datasets of a collection, members of a space. */
  readonly count: number
  /** Collections in a collection. */
  readonly nested: number
}

/** Filters and order of a list: text in the name, owner, and sort key. */
export interface ListQuery {
  readonly title?: string | undefined
  readonly whose?: 'mine' | 'shared' | 'public' | undefined
  readonly sort?: 'name' | 'created' | 'modified' | undefined
  readonly order?: 'asc' | 'desc' | undefined
  readonly limit?: number | undefined
}

type PageQuery = Readonly<Record<string, string | number | boolean | undefined>>

const pageSize = 100

/** Spaces have no trash. */
const isTrashed = (full: Full): boolean => full.resource_type !== 'space' && full.trashedAt !== null

const placesOf = (full: Full): readonly string[] => {
  if (full.resource_type === 'space') return []
  const above = full.resource_type === 'dataset' ? full.collections : full.parents
  return [...full.spaces, ...above].map(({ id }) => id)
}

/** A row of a list. */
export const rowOf = (full: Full): Listed => {
  const { id, name, description, created, modified, author, rights } = full
  const by = { author: author.fullName, authorId: author.id }
  const common = { id, name, description, created, modified, ...by, places: placesOf(full), rights, isTrashed: isTrashed(full) }
  switch (full.resource_type) {
    case 'dataset':
      return { ...common, kind: 'dataset', thumbnail: full.thumbnail, count: full.counts.files, nested: 0 }
    case 'collection':
      return { ...common, kind: 'collection', thumbnail: full.thumbnail, count: full.counts.datasets, nested: full.counts.collections }
    case 'space':
      return { ...common, kind: 'space', thumbnail: null, count: full.counts.members, nested: 0 }
  }
}

/** The source of rows: the endpoint of a list, the ID in it, and whose rows. */
export interface Source {
  readonly address: ListAddress
  readonly id?: string
  readonly whose?: 'mine'
}

type ListAddress = Extract<
  Address,
  | 'GET /api/datasets'
  | 'GET /api/datasets/canEdit'
  | 'GET /api/collections'
  | 'GET /api/collections/canEdit'
  | 'GET /api/spaces'
  | 'GET /api/spaces/canEdit'
  | 'GET /api/spaces/{id}/datasets'
  | 'GET /api/spaces/{id}/collections'
  | 'GET /api/collections/{id}/datasets'
  | 'GET /api/collections/{id}/getChildCollections'
>

/** All of a kind that the caller may view. */
export const allOf: Readonly<Record<ListedKind, Source>> = {
  dataset: { address: 'GET /api/datasets' },
  collection: { address: 'GET /api/collections' },
  space: { address: 'GET /api/spaces' },
}

/** All of a kind that the caller may edit. */
export const editable: Readonly<Record<ListedKind, Source>> = {
  dataset: { address: 'GET /api/datasets/canEdit' },
  collection: { address: 'GET /api/collections/canEdit' },
  space: { address: 'GET /api/spaces/canEdit' },
}

/** A page of a list, with all details of each row. */
export const pageOf = async (
  { address, id, whose }: Source,
  query: PageQuery,
  signal?: AbortSignal,
): Promise<ListPage<readonly Listed[]>> => {
  const path = id === undefined ? {} : { path: { id } }
  const input = { ...path, query: { view: 'full', ...(whose && { whose }), ...query }, signal }
  const page = (await apiPage(address, input as never)) as ListPage<Answer<ListAddress>>
  return { ...page, rows: (page.rows as unknown as readonly Full[]).map(rowOf) }
}

/** Searches by part of the name, for selecting one. */
export const findIn =
  (source: Source) =>
  async (title: string): Promise<readonly Listed[]> =>
    (await pageOf(source, title === '' ? { limit: 50 } : { title, limit: 50 })).rows

/** A list loaded page by page, in the form that a grid takes. */
export interface ResourceList {
  readonly rows: readonly Listed[]
  /** More than the number of loaded rows while there is a next page. */
  readonly count: number
  /** The total, as reported by the server: `153`, or `10000+`. */
  readonly total: string | undefined
  readonly isLoading: boolean
  readonly error: Error | null
  readonly hasMore: boolean
  readonly row: (index: number) => Listed | undefined
  readonly onRange: (start: number, end: number) => void
  readonly loadMore: () => void
  readonly retry: () => void
}

type Pages = InfiniteData<ListPage<readonly Listed[]>, PageQuery>

/** Loads a list. Its key begins with the kind and `list`, so that live events refresh it. */
export const useResourceList = (kind: ListedKind, source: Source, query: ListQuery = {}): ResourceList => {
  const first = { limit: pageSize, total: true, ...query }
  const list = useInfiniteQuery<ListPage<readonly Listed[]>, Error, Pages, QueryKey, PageQuery>({
    queryKey: [kind, 'list', source, query],
    queryFn: ({ pageParam, signal }) => pageOf(source, pageParam, signal),
    initialPageParam: first,
    getNextPageParam: ({ next }) => next,
  })
  const { data, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, refetch } = list
  const rows = useMemo(() => data?.pages.flatMap(page => page.rows) ?? [], [data])
  const row = useCallback((index: number) => rows[index], [rows])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const onRange = useCallback((_start: number, end: number) => (end > rows.length ? loadMore() : undefined), [rows.length, loadMore])
  return {
    ...{ rows, row, onRange, loadMore },
    count: rows.length + (hasNextPage ? 20 : 0),
    total: data?.pages[0]?.total,
    isLoading: list.isPending,
    error: list.error,
    hasMore: hasNextPage,
    retry: () => void (isFetchNextPageError ? fetchNextPage() : refetch()),
  }
}

/** The URL of a resource's page. */
export const pathTo = (kind: string, id: string): string =>
  `/${{ dataset: 'datasets', collection: 'collection', space: 'spaces', file: 'files' }[kind] ?? kind}/${id}`
