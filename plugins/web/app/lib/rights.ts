import { useQuery } from '@tanstack/react-query'
import { api } from './api.ts'

/** Kinds of resources that rights are asked about. */
export type RightsKind = 'space' | 'collection' | 'dataset' | 'file'

const none: ReadonlySet<string> = new Set()

/** What the caller may do with a resource: names of permissions, such as `EditDataset`. Empty until it is known. */
export const useRights = (kind: RightsKind, id: string): ReadonlySet<string> =>
  useQuery({
    queryKey: [kind, id, 'rights'],
    queryFn: async ({ signal }) => {
      const [held] = await api('POST /api/permissions/check', { body: { resources: [{ type: kind, id }] }, signal })
      return held?.permissions ?? []
    },
    select: toSet,
  }).data ?? none

const toSet = (names: readonly string[]): ReadonlySet<string> => new Set(names)
