import { type After, afterParameter, type GeoListPage, type ListQuery, readNamedAfter, s } from 'pounce/sdk'

/** Query parameters of lists by name. Spread into a route's `query`. */
export const namedListParameters = {
  limit: s.Integer({
    default: 0,
    minimum: 0,
    description: 'Page size, with a link to the next page; values above 1,000 are reduced to 1,000; 0 or absent: all, as in Clowder 1.x',
  }),
  after: afterParameter(600),
}

/** The page of a list by name that is asked for. */
export const namedPage = ({ limit, after }: ListQuery): GeoListPage => {
  const from: After | undefined = typeof after === 'string' ? readNamedAfter(after) : after
  return { limit: Math.min(Math.max(limit, 1), 1000), ...(from ? { after: from } : {}) }
}
