import { useQuery } from '@tanstack/react-query'
import { type Answer, api } from './api.ts'
import { queries } from './queries.ts'

export type Session = Answer<'GET /api/session'>

const sessionQuery = { queryKey: ['session'], queryFn: () => api('GET /api/session'), staleTime: 60_000 } as const

/** Who is signed in, the site, and what is switched on; undefined until it is loaded. */
export const useSession = (): Session | undefined => useQuery(sessionQuery).data

/** After signing in or out: nothing that was loaded for another person stays. */
export const changeSession = async (): Promise<void> => {
  queries.clear()
  await queries.fetchQuery(sessionQuery)
}
