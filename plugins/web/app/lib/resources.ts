import { type InfiniteData, type QueryKey, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { type Answer, api, apiPage, type ListPage } from './api.ts'
import { loadedSession } from './session.ts'

export type ListedKind = 'dataset' | 'collection' | 'space'

/** A dataset, collection or space as lists show it, with what the caller may do with it. */
export interface Listed {
  readonly kind: ListedKind
  readonly id: string
  readonly name: string
  readonly description: string
  readonly created: string
  readonly thumbnail: string | null
  readonly rights: readonly string[]
}

/** A page of a list, before the rights are known. */
export type Unrated = Omit<Listed, 'rights'>

/** The query of a page: the first one's, or what `Link` says of the next one. */
export interface PageQuery {
  readonly limit?: number
  readonly date?: string
  readonly when?: string
  readonly after?: string
}

type Source = (query: PageQuery, signal: AbortSignal) => Promise<ListPage<readonly Unrated[]>>

const pageSize = 100

const pageOf = <T>({ rows, ...page }: ListPage<readonly T[]>, shown: (row: T) => Unrated): ListPage<readonly Unrated[]> => ({
  ...page,
  rows: rows.map(shown),
})

type DatasetRow = Answer<'GET /api/datasets'>[number]
type CollectionRow = Answer<'GET /api/collections'>[number]
type SpaceRow = Answer<'GET /api/spaces'>[number]
export type CollectionDetails = Answer<'GET /api/collections/{id}'>

const datasetRow = ({ id, name, description, created, thumbnail }: DatasetRow): Unrated => ({
  ...{ kind: 'dataset', id, name, description, created, thumbnail },
})
const collectionRow = ({ id, collectionname, description, created, thumbnail }: CollectionRow): Unrated => ({
  ...{ kind: 'collection', id, name: collectionname, description, created, thumbnail },
})
export const childRow = ({ id, name, description, created }: CollectionDetails): Unrated => ({
  ...{ kind: 'collection', id, name, description, created, thumbnail: null },
})
const spaceRow = ({ id, name, description, created }: SpaceRow): Unrated => ({
  ...{ kind: 'space', id, name, description, created, thumbnail: null },
})

/** Where the rows of a list come from: all of a kind, those that the caller may edit, or what is in a space or collection. */
export const sources = {
  datasets:
    (title: string, isEditable: boolean): Source =>
    async (query, signal) =>
      pageOf(
        await apiPage(isEditable ? 'GET /api/datasets/canEdit' : 'GET /api/datasets', { query: { title, ...query }, signal }),
        datasetRow,
      ),
  collections:
    (title: string, isEditable: boolean): Source =>
    async (query, signal) =>
      pageOf(
        await apiPage(isEditable ? 'GET /api/collections/canEdit' : 'GET /api/collections', { query: { title, ...query }, signal }),
        collectionRow,
      ),
  spaces:
    (title: string, isEditable: boolean): Source =>
    async (query, signal) =>
      pageOf(await apiPage(isEditable ? 'GET /api/spaces/canEdit' : 'GET /api/spaces', { query: { title, ...query }, signal }), spaceRow),
  datasetsOfSpace:
    (id: string): Source =>
    async (query, signal) =>
      pageOf(await apiPage('GET /api/spaces/{id}/datasets', { path: { id }, query, signal }), datasetRow),
  collectionsOfSpace:
    (id: string): Source =>
    async (query, signal) =>
      pageOf(await apiPage('GET /api/spaces/{id}/collections', { path: { id }, query, signal }), collectionRow),
  datasetsOfCollection:
    (id: string): Source =>
    async (query, signal) =>
      pageOf(await apiPage('GET /api/collections/{id}/datasets', { path: { id }, query, signal }), datasetRow),
}

/** What pages offer, by kind; nothing else is asked about. */
const asked: Readonly<Record<ListedKind, readonly string[]>> = {
  dataset: ['EditDataset', 'DeleteDataset'],
  collection: ['EditCollection', 'DeleteCollection', 'CreateCollection', 'AddResourceToCollection', 'RemoveResourceFromCollection'],
  space: ['EditSpace', 'DeleteSpace', 'AddResourceToSpace', 'RemoveResourceFromSpace', 'CreateDataset', 'CreateCollection'],
}

/** The rights of the caller on things of one kind; none for strangers, who may change nothing. */
export const rightsOn = async (kind: ListedKind, ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> => {
  if (ids.length === 0 || !(await loadedSession()).user) return new Map()
  const resources = ids.map(id => ({ type: kind, id }))
  const held = await api('POST /api/permissions/check', { body: { resources, permissions: asked[kind] } })
  return new Map(held.map(({ id, permissions }) => [id, permissions]))
}

/** The rights of the caller on one thing; empty until they are known. */
export const useRights = (kind: ListedKind, id: string): readonly string[] =>
  useQuery({ queryKey: [kind, id, 'rights'], queryFn: async () => (await rightsOn(kind, [id])).get(id) ?? [] }).data ?? []

/** A list that is loaded page by page, as a grid takes it. */
export interface ResourceList {
  readonly rows: readonly Listed[]
  /** More than there are rows while there is a next page. */
  readonly count: number
  readonly isLoading: boolean
  readonly error: Error | null
  readonly hasMore: boolean
  readonly row: (index: number) => Listed | undefined
  readonly onRange: (start: number, end: number) => void
  readonly loadMore: () => void
  readonly retry: () => void
}

type Pages = InfiniteData<ListPage<readonly Listed[]>, PageQuery>

/** Loads a list. Its key begins with the kind and `list`, so that live events refresh it. Rights are asked for unless the list offers nothing to do. */
export const useResourceList = (key: QueryKey, source: Source, { withRights = true } = {}): ResourceList => {
  const list = useInfiniteQuery<ListPage<readonly Listed[]>, Error, Pages, QueryKey, PageQuery>({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => {
      const page = await source(pageParam, signal)
      const kind = page.rows[0]?.kind
      const rights =
        kind && withRights
          ? await rightsOn(
              kind,
              page.rows.map(({ id }) => id),
            )
          : new Map<string, readonly string[]>()
      return { ...page, rows: page.rows.map(row => ({ ...row, rights: rights.get(row.id) ?? [] })) }
    },
    initialPageParam: { limit: pageSize },
    getNextPageParam: ({ next }) => next as PageQuery | undefined,
  })
  const { data, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = list
  const rows = useMemo(() => data?.pages.flatMap(page => page.rows) ?? [], [data])
  const row = useCallback((index: number) => rows[index], [rows])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  const onRange = useCallback((_start: number, end: number) => (end > rows.length ? loadMore() : undefined), [rows.length, loadMore])
  return {
    ...{ rows, row, onRange, loadMore },
    count: rows.length + (hasNextPage ? 20 : 0),
    isLoading: list.isPending,
    error: list.error,
    hasMore: hasNextPage,
    retry: () => void refetch(),
  }
}

/** The page of a thing. */
export const pathTo = (kind: string, id: string): string =>
  `/${{ dataset: 'datasets', collection: 'collection', space: 'spaces', file: 'files' }[kind] ?? kind}/${id}`
