import { useQuery } from '@tanstack/react-query'
import { api } from './api.ts'

/** Kinds of resources that rights are asked about. */
export type RightsKind = 'space' | 'collection' | 'dataset' | 'file'

const none: ReadonlySet<string> = new Set()

/** Which of these permissions the caller holds on a resource. Full views have most of them; this queries others. */
export const useRights = (kind: RightsKind, id: string, permissions: readonly string[]): ReadonlySet<string> =>
  useQuery({
    queryKey: [kind, id, 'rights', permissions],
    queryFn: async ({ signal }) => {
      const [held] = await api('POST /api/permissions/check', { body: { resources: [{ type: kind, id }], permissions }, signal })
      return held?.permissions ?? []
    },
    select: toSet,
  }).data ?? none

const toSet = (names: readonly string[]): ReadonlySet<string> => new Set(names)
