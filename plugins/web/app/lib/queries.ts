import { type InvalidateOptions, type Query, QueryClient, type QueryFilters } from '@tanstack/react-query'
import { ApiError } from './api.ts'

/**
 * Query keys: they begin with the kind and ID of a resource, so that a live event about it marks all of them as
 * stale. Lists begin with the kind alone.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The browser may be wrong: without internet it can still reach a server in its network. A failed request shows the banner, and is retried.
      networkMode: 'always',
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
 * Deletes a resource. From then on queries about it are not reloaded, since the server no longer has it, although live events may
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

/** Restores a resource that was deleted here. */
export const restoring = async (id: string, request: () => Promise<unknown>): Promise<void> => {
  await request()
  deleted.delete(id)
}

/** Whether a query may be reloaded: it is not about a resource that was deleted here. */
export const isReloadable = ({ queryKey }: Query): boolean => {
  const key = JSON.stringify(queryKey)
  return ![...deleted].some(id => key.includes(id))
}

/**
 * Reloads what the server reports as changed. On a hidden page it only becomes stale: TanStack Query reloads stale data when the page is
 * shown again, so that many open tabs cost the server nothing.
 */
export const refresh = (filters: QueryFilters, options?: InvalidateOptions): Promise<void> =>
  queries.invalidateQueries({ ...filters, refetchType: document.hidden ? 'none' : 'active' }, options)
