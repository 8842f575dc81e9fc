import { QueryClient } from '@tanstack/react-query'
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
