import { type InvalidateOptions, type Query, QueryClient, type QueryFilters } from '@tanstack/react-query'
import { ApiError } from './api.ts'

/**
 * Answers of the server by what they are about: keys begin with the kind and id of a resource, so that a live event about it marks all of them as
 * stale. Lists begin with the kind alone.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      retry: (failures, error) =>
        failures < 4 && error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 502),
      retryDelay: (failures, error) =>
        error instanceof ApiError && error.retryAfterSeconds !== undefined
          ? error.retryAfterSeconds * 1000
          : Math.min(15_000, 500 * 2 ** failures),
    },
  },
})

const deleted = new Set<string>()

/**
 * Sends the deletion of a resource. From then on nothing that shows it is loaded again, since the server no longer has it, although live events may
 * arrive before its page is left.
 */
export const deleting = async (id: string, request: () => Promise<unknown>): Promise<void> => {
  deleted.add(id)
  try {
    await request()
  } catch (error) {
    deleted.delete(id)
    throw error
  }
}

/** Sends the restoration of a resource that was deleted here. */
export const restoring = async (id: string, request: () => Promise<unknown>): Promise<void> => {
  await request()
  deleted.delete(id)
}

/** Whether an answer may be loaded again: it is not about a resource that was deleted here. */
export const isReloadable = ({ queryKey }: Query): boolean => {
  const key = JSON.stringify(queryKey)
  return ![...deleted].some(id => key.includes(id))
}

/**
 * Loads again what the server says has changed. On a page that nobody sees it only becomes stale: TanStack Query loads stale answers when the page is
 * shown again, so that many open tabs cost the server nothing.
 */
export const refresh = (filters: QueryFilters, options?: InvalidateOptions): Promise<void> =>
  queries.invalidateQueries({ ...filters, refetchType: document.hidden ? 'none' : 'active' }, options)
