import fc from 'fast-check'

const word = fc.string({ unit: 'grapheme', maxLength: 20 }).map(encodeURIComponent)

/** Page URLs, some with a query. `fc.webUrl()` first builds a table of all of Unicode, which takes two seconds of CPU time. */
export const webUrl = (): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.array(word, { maxLength: 4 }), fc.option(word, { nil: undefined }))
    .map(([scheme, host, segments, query]) => `${scheme}://${[host, ...segments].join('/')}${query === undefined ? '' : `?${query}`}`)
