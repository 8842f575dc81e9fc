import type { GeoBinning } from 'pounce/sdk'
import { type Narrowed, streamsCondition } from './conditions.ts'
import type { PostgisConnection } from './postgis-connection.ts'
import { SqlParameters } from './sql-parameters.ts'

/** Of more names it is cheaper to look at what each point has than to look for each of them in it. */
const most = 16

/** The names of all properties that are to be summed up; undefined when they are many. */
export const namesToSum = async (
  server: PostgisConnection,
  { streams }: Narrowed,
  { properties }: GeoBinning,
): Promise<readonly string[] | undefined> => {
  if (properties) {
    const wanted = [...new Set(properties)]
    return wanted.length <= most ? wanted : undefined
  }
  const binds = new SqlParameters()
  const own = streams ? ` where ${streamsCondition(streams, binds)}` : ''
  const text = `select distinct n.name from streams s cross join unnest(s.names) as n (name)${own} limit ${most + 1}`
  const names = (await server.query(text, binds.values)).map(([name]) => name ?? '')
  return names.length <= most ? names : undefined
}
