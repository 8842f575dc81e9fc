import { type GeoFilter, Invalid, readTime, s } from 'pounce/sdk'

/** Query parameters of the time that is looked at more closely; both ends belong to it. */
export const windowParameters = {
  window_start: s.Optional(
    s.String({
      maxLength: 60,
      description: 'Datapoints that start then or later (such as `2017-03-31` or `2017-03-31T12:00:00Z`; UTC without a zone)',
    }),
  ),
  window_end: s.Optional(s.String({ maxLength: 60, description: 'Datapoints that start then or earlier' })),
}

/** Both ends included, in milliseconds; undefined: no bound. */
export interface Window {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

const timeOf = (sent: string | undefined, name: string): number | undefined =>
  sent === undefined || sent.trim() === '' ? undefined : readTime(sent, name)

/** Reads them; `Invalid` names the one that is wrong. */
export const readWindow = (query: { readonly window_start?: string; readonly window_end?: string }): Window => {
  const [fromMs, toMs] = [timeOf(query.window_start, 'window_start'), timeOf(query.window_end, 'window_end')]
  if (fromMs !== undefined && toMs !== undefined && toMs < fromMs) throw new Invalid('window_end is before window_start')
  return { fromMs, toMs }
}

/** The last moment that a filter can name. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** What a filter chooses, within a window. */
export const within = (filter: Omit<GeoFilter, 'streams'>, { fromMs, toMs }: Window): Omit<GeoFilter, 'streams'> => ({
  ...filter,
  ...(fromMs === undefined ? {} : { fromMs: Math.max(fromMs, filter.fromMs ?? fromMs) }),
  ...(toMs === undefined || toMs >= lastMs ? {} : { beforeMs: toMs + 1 }),
})
