import { parse } from 'node:querystring'

type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** A request's address, with the key taken out so that nothing that is logged or echoed can show it. */
export interface RequestLine {
  readonly path: string
  /** Without the question mark and without any `key`. */
  readonly search: string
  readonly query: Query
  readonly key: string | undefined
}

const none: Query = Object.freeze({})

/** Takes a request's URL apart. A complete address (as sent to proxies) loses its scheme and host. */
export const requestLine = (url: string): RequestLine => {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  if (mark === -1) return { path: target || '/', search: '', query: none, key: undefined }
  const sent = target.slice(mark + 1)
  // Without a limit of its own, which would drop what is beyond it unseen: the line itself has one.
  const query = parse(sent, '&', '=', { maxKeys: 0 })
  const given = query['key']
  const path = target.slice(0, mark) || '/'
  if (given === undefined) return { path, search: sent, query, key: undefined }
  return { path, search: withoutKey(sent), query, key: typeof given === 'string' ? given : oneOf(given) }
}

/** Two different keys are none: who put the second there, and which counts, cannot be known. */
const oneOf = (given: readonly string[]): string => [...new Set(given.filter(Boolean))].join(', ')

const withoutKey = (search: string): string =>
  search
    .split('&')
    .filter(pair => parse(pair)['key'] === undefined)
    .join('&')
